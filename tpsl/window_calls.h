/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The MPI functions of windows.c, for counts of type COUNT and units of displacements of type UNIT. NAME says what a function is called.
 */
static int NAME(Put)(const void *from, COUNT n, handle type, int target, intptr_t at, COUNT nto, handle to_type, handle win)
{
    struct tpsl_collectives *c = my_state();
    size_t bytes = type == to_type && n == nto ? bytes_of(type, n) : 0;
    char *to = from ? place(c, win, target, at, bytes) : NULL;
    if (!to)
        return LIBRARY(c, NAME(Put))(from, n, type, target, at, nto, to_type, win);
    memmove(to, from, bytes);
    atomic_thread_fence(memory_order_seq_cst);
    return SUCCESS;
}

static int NAME(Get)(void *to, COUNT n, handle type, int target, intptr_t at, COUNT nfrom, handle from_type, handle win)
{
    struct tpsl_collectives *c = my_state();
    size_t bytes = type == from_type && n == nfrom ? bytes_of(type, n) : 0;
    const char *from = to ? place(c, win, target, at, bytes) : NULL;
    if (!from)
        return LIBRARY(c, NAME(Get))(to, n, type, target, at, nfrom, from_type, win);
    memmove(to, from, bytes);
    tpsl_pending_look(&c->pending);
    return SUCCESS;
}

static int NAME(Win_create)(void *base, intptr_t size, UNIT unit, handle info, handle comm, handle *win)
{
    struct tpsl_collectives *c = my_state();
    int rc = LIBRARY(c, NAME(Win_create))(base, size, unit, info, comm, win);
    return rc == SUCCESS ? learn(c, comm, *win) : rc;
}

static int NAME(Win_allocate)(intptr_t size, UNIT unit, handle info, handle comm, void *base, handle *win)
{
    struct tpsl_collectives *c = my_state();
    int rc = LIBRARY(c, NAME(Win_allocate))(size, unit, info, comm, base, win);
    return rc == SUCCESS ? learn(c, comm, *win) : rc;
}

static int NAME(Win_allocate_shared)(intptr_t size, UNIT unit, handle info, handle comm, void *base, handle *win)
{
    struct tpsl_collectives *c = my_state();
    int rc = LIBRARY(c, NAME(Win_allocate_shared))(size, unit, info, comm, base, win);
    return rc == SUCCESS ? learn(c, comm, *win) : rc;
}

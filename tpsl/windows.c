// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* MPI_Put and MPI_Get by load and store, between ranks that are all threads of this process (docs/windows.md).
 *
 * A rank that holds a lock of a target may access its window at once. MPI asks for no more of these two operations: they are
 * atomic towards nothing, and ordered by MPI_Win_flush and MPI_Win_unlock only. So each of them goes by load and store or by the
 * library, whatever the others do. All other operations, synchronization, and the judgement of arguments are the library's.
 */
#include "collectives.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Of MPICH's mpi.h. */
enum { WIN_NULL = 0x20000000, WIN_BASE = 0x66000001, WIN_SIZE = 0x66000003, WIN_DISP_UNIT = 0x66000005 };

/* A member's part of a window, and what this rank may do with it. */
struct target {
    char *base;
    intptr_t size, unit; /* bytes */
    bool locked;  /* this rank has locked it alone */
    bool granted; /* the library has accessed it in this epoch */
};

/* What a rank knows of a window. It belongs to the rank alone. */
struct window {
    int size; /* members */
    bool locked_all;
    struct target targets[];
};

static int forget(handle win, int key, void *window, void *extra)
{
    free(window);
    return SUCCESS;
}

void tpsl_windows_start(struct tpsl_endpoint *ep)
{
    struct tpsl_collectives *c = ep->collectives;
    if (c && c->able && ep->job->libraries->windows)
        must_succeed(c->Win_create_keyval(NULL, forget, &c->window_key, NULL));
}

/* NULL: the library serves the window, or says what is wrong with it. */
static struct window *window_of(struct tpsl_collectives *c, handle win)
{
    const unsigned int kind = 0x3c000000;
    struct window *w;
    int found;

    if (!c || !c->window_key || ((unsigned int)win & kind) != WIN_NULL || win == WIN_NULL)
        return NULL;
    return c->Win_get_attr(win, c->window_key, &w, &found) == SUCCESS && found ? w : NULL;
}

/* The members tell each other where their parts are. All of them come to the same answer whether to do so. */
static int learn(struct tpsl_collectives *c, handle comm, handle win)
{
    intptr_t *size;
    int members, found, *unit;

    if (!c || !c->window_key)
        return SUCCESS;
    must_succeed(c->Comm_size(comm, &members));
    if (members == 1 || !tpsl_all_are_here(c, comm, members))
        return SUCCESS;
    struct window *w = must_have(calloc(1, sizeof *w + (size_t)members * sizeof *w->targets));
    struct target mine = {0};
    must_succeed(c->Win_get_attr(win, WIN_BASE, &mine.base, &found));
    must_succeed(c->Win_get_attr(win, WIN_SIZE, &size, &found));
    must_succeed(c->Win_get_attr(win, WIN_DISP_UNIT, &unit, &found));
    mine.size = *size;
    mine.unit = *unit;
    w->size = members;
    must_succeed(c->Allgather(&mine, sizeof mine, TYPE_BYTE, w->targets, sizeof mine, TYPE_BYTE, comm));
    must_succeed(c->Win_set_attr(win, c->window_key, w));
    return SUCCESS;
}

/* 0: the library shall look at the arguments. */
static size_t bytes_of(handle type, int64_t n)
{
    size_t width = (unsigned int)type >> 8 & 0xff;
    return tpsl_is_row(type) && n > 0 ? (size_t)n * width : 0;
}

/* A library may return from MPI_Win_lock before it has the lock, and take it with the first operation. When it has completed one,
 * the lock is there. */
static bool is_granted(struct tpsl_collectives *c, handle win, int target, struct target *t)
{
    char byte;

    if (!t->granted)
        t->granted = c->Get(&byte, 1, TYPE_BYTE, target, 0, 1, TYPE_BYTE, win) == SUCCESS && c->Win_flush(target, win) == SUCCESS;
    return t->granted;
}

/* Where these bytes of a target are; NULL: the library shall do what is wanted of them. */
static char *place(struct tpsl_collectives *c, handle win, int target, intptr_t at, size_t bytes)
{
    struct window *w = bytes ? window_of(c, win) : NULL;
    intptr_t offset;

    if (!w || target < 0 || target >= w->size)
        return NULL;
    struct target *t = &w->targets[target];
    if (!(t->locked || w->locked_all) || at < 0 || __builtin_mul_overflow(at, t->unit, &offset) || offset > t->size || bytes > (size_t)(t->size - offset))
        return NULL;
    return is_granted(c, win, target, t) ? t->base + offset : NULL;
}

static struct target *target_of(struct tpsl_collectives *c, int target, handle win)
{
    struct window *w = window_of(c, win);
    return w && target >= 0 && target < w->size ? &w->targets[target] : NULL;
}

static int Win_lock(int type, int target, int assertion, handle win)
{
    struct tpsl_collectives *c = my_state();
    int rc = LIBRARY(c, Win_lock)(type, target, assertion, win);
    struct target *t = rc == SUCCESS ? target_of(c, target, win) : NULL;
    if (t)
        t->locked = true;
    return rc;
}

static int Win_unlock(int target, handle win)
{
    struct tpsl_collectives *c = my_state();
    struct target *t = target_of(c, target, win);
    if (t)
        t->locked = t->granted = false;
    return LIBRARY(c, Win_unlock)(target, win);
}

static int Win_lock_all(int assertion, handle win)
{
    struct tpsl_collectives *c = my_state();
    int rc = LIBRARY(c, Win_lock_all)(assertion, win);
    struct window *w = rc == SUCCESS ? window_of(c, win) : NULL;
    if (w)
        w->locked_all = true;
    return rc;
}

static int Win_unlock_all(handle win)
{
    struct tpsl_collectives *c = my_state();
    struct window *w = window_of(c, win);
    for (int i = 0; w && i < w->size; i++)
        w->targets[i].granted = false;
    if (w)
        w->locked_all = false;
    return LIBRARY(c, Win_unlock_all)(win);
}

#define NAME(name) name
#define COUNT int
#define UNIT int
#include "window_calls.h"
#undef NAME
#undef COUNT
#undef UNIT

#define NAME(name) name##_c
#define COUNT int64_t
#define UNIT intptr_t
#include "window_calls.h"

#define ENTRY(name) {"MPI_" #name, name}, {"MPI_" #name "_c", name##_c}
const struct tpsl_mpi_wrapper tpsl_windows[] = {
    {"MPI_Win_lock", Win_lock}, {"MPI_Win_unlock", Win_unlock}, {"MPI_Win_lock_all", Win_lock_all}, {"MPI_Win_unlock_all", Win_unlock_all},
    ENTRY(Put), ENTRY(Get), ENTRY(Win_create), ENTRY(Win_allocate), ENTRY(Win_allocate_shared),
};

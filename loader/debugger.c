// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Debuggers see the instances' objects as one more namespace of ld.so: a struct r_debug_extended behind
 * those that the program's DT_DEBUG leads to (<link.h>, r_version 2). All instances share one
 * namespace, because a debugger walks through each namespace. The namespace is never removed, even when it is
 * empty, so that a core file shows it too.
 */
#include "dl.h"

/* struct r_debug_extended, which <link.h> declares since glibc 2.35. */
struct namespace {
    struct r_debug base;
    struct namespace *next;
};

static struct namespace ours;
static bool listed;
static pthread_mutex_t change_lock = PTHREAD_MUTEX_INITIALIZER;

/* The list of namespaces; NULL if there is none to which we can add. */
static struct namespace *program_list(void)
{
    if (!tpsl_ldso_has_namespaces()) /* then ld.so's struct has no r_next */
        return NULL;
    struct link_map *program = dlopen(NULL, RTLD_LAZY);
    for (const ElfW(Dyn) *d = program->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_DEBUG)
            return (struct namespace *)d->d_un.d_ptr;
    return NULL;
}

/* ld.so appends at the tail, too, when dlmopen makes a namespace. */
static void append_to(struct namespace *list)
{
    struct namespace *last = list, *none = NULL;
    while (!__atomic_compare_exchange_n(&last->next, &none, &ours, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        last = none;
        none = NULL;
    }
    list->base.r_version = 2;
}

/* A debugger has its breakpoint at r_brk, and reads the list when r_brk is called. */
static void tell(int state)
{
    ours.base.r_state = state;
    if (ours.base.r_brk)
        ((void (*)(void))ours.base.r_brk)();
}

void tpsl_debugger_before(int state)
{
    pthread_mutex_lock(&change_lock);
    tell(state);
}

static void list_ours(void)
{
    struct namespace *list = program_list();
    if (!list)
        return;
    listed = true;
    ours.base = list->base;
    ours.base.r_version = 2;
    ours.base.r_map = &tpsl_first_published()->map;
    append_to(list);
}

void tpsl_debugger_after(void)
{
    struct tpsl_object *first = tpsl_first_published();
    if (!listed && first)
        list_ours();
    ours.base.r_map = first ? &first->map : NULL;
    tell(RT_CONSISTENT);
    pthread_mutex_unlock(&change_lock);
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Wrappers: functions of the process that code of instances gets in place of a library's own functions of the same
 * names. The plan leads references to them, and dlsym finds them (dl_scope.c). Which there are is configured from
 * above, so the loader need not know what the library is for.
 */
#include "object.h"

#include <stdlib.h>
#include <string.h>

/* All that were made. Objects of Go refer to them, which tools that look for leaks do not read. */
static struct tpsl_wrappers *_Atomic newest;

const struct tpsl_wrappers *tpsl_wrappers_new(const struct tpsl_wrapper *list, size_t n)
{
    struct tpsl_wrappers *w = malloc(sizeof *w);
    if (!w)
        return NULL;
    *w = (struct tpsl_wrappers){atomic_load(&newest), list, n};
    while (!atomic_compare_exchange_weak(&newest, &w->older, w))
        ;
    return w;
}

void *tpsl_wrapper(const struct tpsl_wrappers *w, const char *name)
{
    for (size_t i = 0; w && i < w->n; i++)
        if (strcmp(w->list[i].name, name) == 0)
            return w->list[i].function;
    return NULL;
}

void *tpsl_wrapped(const char *name)
{
    void *found = NULL;
    struct tpsl_object *o = tpsl_current ? atomic_load_explicit(&tpsl_current->first, memory_order_acquire) : NULL;
    for (; o && !found; o = atomic_load_explicit(&o->next, memory_order_acquire))
        if (o->wrappers)
            found = tpsl_object_address(o, name);
    return found;
}

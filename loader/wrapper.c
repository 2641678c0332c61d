// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Wrappers: functions of the process that code of instances gets in place of a library's own functions of the same
 * names. The plan leads references to them, and dlsym finds them (dl_scope.c). Which there are is configured from
 * above, so the loader need not know what the library is for.
 */
#include "object.h"

#include <string.h>

static const struct tpsl_wrapper *wrappers;
static size_t nwrappers;

void tpsl_set_wrappers(const struct tpsl_wrapper *list, size_t n)
{
    wrappers = list;
    nwrappers = n;
}

void *tpsl_wrapper(const char *name)
{
    for (size_t i = 0; i < nwrappers; i++)
        if (strcmp(wrappers[i].name, name) == 0)
            return wrappers[i].function;
    return NULL;
}

void *tpsl_wrapped(const char *name)
{
    void *found = NULL;
    struct tpsl_object *o = tpsl_current ? atomic_load_explicit(&tpsl_current->first, memory_order_acquire) : NULL;
    for (; o && !found; o = atomic_load_explicit(&o->next, memory_order_acquire))
        if (o->wrapped)
            found = tpsl_object_address(o, name);
    return found;
}

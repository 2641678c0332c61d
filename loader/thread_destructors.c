// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Destructors of C++ thread_local variables, which run at the end of a thread. libc keeps a library in
 * memory until its destructors have run. It does not know our objects, which may be unmapped by then.
 * So libc's list gets a function of ours, which calls the destructor only if its instance still exists.
 */
#include "object.h"
#include "thread.h"

#include <stdlib.h>

struct tpsl_thread_destructor {
    struct tpsl_thread_destructor *older; /* of this thread */
    void (*function)(void *);       /* NULL: it was called when its instance ended */
    void *argument;
    struct tpsl_instance *instance;
    uintptr_t serial; /* of the instance */
};
static __thread struct tpsl_thread_destructor *newest __attribute__((tls_model("initial-exec")));

extern int __cxa_thread_atexit_impl(void (*)(void *), void *, void *);
extern char __dso_handle __attribute__((visibility("hidden")));

static void call(struct tpsl_thread_destructor *e)
{
    void (*function)(void *) = e->function;
    e->function = NULL;
    if (!function || !tpsl_instance_is_live(e->instance, e->serial))
        return;
    struct tpsl_instance *before = tpsl_become(e->instance);
    function(e->argument);
    tpsl_become(before);
}

/* Runs at the end of the thread. The newest destructor runs first. */
static void at_end(void *entry)
{
    struct tpsl_thread_destructor *e = entry;
    call(e);
    struct tpsl_thread_destructor **link = &newest;
    while (*link != e)
        link = &(*link)->older;
    *link = e->older;
    free(e);
}

int tpsl_cxa_thread_atexit(void (*function)(void *), void *argument, void *dso)
{
    TPSL_INSIDE;
    const struct tpsl_object *o = tpsl_object_at(dso);
    if (!o || o->instance == &tpsl_once)
        return __cxa_thread_atexit_impl(function, argument, dso);
    struct tpsl_thread_destructor *e = malloc(sizeof *e);
    if (!e)
        return -1;
    *e = (struct tpsl_thread_destructor){newest, function, argument, o->instance, o->instance->serial};
    newest = e;
    return __cxa_thread_atexit_impl(at_end, e, &__dso_handle);
}

void tpsl_call_thread_destructors(struct tpsl_instance *in)
{
    for (struct tpsl_thread_destructor *e = newest; e; e = e->older)
        if (e->instance == in && e->serial == in->serial)
            call(e);
}

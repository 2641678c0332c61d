// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Threads that a rank's thread creates act for that rank. libtpsl exports
 * pthread_create in front of libc's to see them.
 *
 * Not those of an OpenMP runtime: its pool threads are ranks of their own, which
 * claim or adopt the slot of their thread number. Nor those of the Go runtime inside
 * libtpsl.
 */
#include "dispatch.h"

#include <errno.h>
#include <string.h>

static void *capture(void)
{
    return tpsl_self;
}

static void enter(void *ep)
{
    tpsl_act_for(ep);
}

__attribute__((constructor)) static void set_hooks(void)
{
    static const struct tpsl_thread_hooks hooks = {capture, enter};
    tpsl_set_thread_hooks(&hooks);
}

static bool is_runtime(const void *caller)
{
    Dl_info by, me;
    if (!dladdr(caller, &by) || !by.dli_fname)
        return false;
    if (dladdr((void *)tpsl_act_for, &me) && by.dli_fbase == me.dli_fbase)
        return true;
    const char *slash = strrchr(by.dli_fname, '/');
    const char *name = slash ? slash + 1 : by.dli_fname;
    static const char *const openmp[] = {"libgomp.", "libomp.", "libiomp5."};
    for (size_t i = 0; i < sizeof openmp / sizeof *openmp; i++)
        if (strncmp(name, openmp[i], strlen(openmp[i])) == 0)
            return true;
    return false;
}

typedef int creator(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static creator *_Atomic host_create;

/* At load, before the Go runtime makes its first thread: that one could not ask while
 * a dlopen that brings libtpsl holds ld.so's lock, and waits for the runtime. */
__attribute__((constructor(101))) static void find_host(void)
{
    atomic_store(&host_create, (creator *)dlsym(RTLD_NEXT, "pthread_create"));
}

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attr, void *(*routine)(void *), void *restrict argument)
{
    if (tpsl_self && !is_runtime(__builtin_return_address(0)))
        return tpsl_thread_create_inheriting(thread, attr, routine, argument);
    if (!atomic_load(&host_create))
        find_host(); /* a constructor that runs before ours */
    creator *create = atomic_load(&host_create);
    return create ? create(thread, attr, routine, argument) : EAGAIN;
}

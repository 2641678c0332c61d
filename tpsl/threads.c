// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* A thread that a rank's thread creates acts for that rank. libtpsl exports pthread_create in front of
 * libc's to see such threads.
 *
 * Threads of an OpenMP runtime are excepted: its pool threads are ranks of their own, which claim or
 * adopt the slot of their thread number. So are threads of the Go runtime inside libtpsl, and of a program in Go: any goroutine runs on
 * them, long after the rank has ended.
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
    static const struct tpsl_thread_hooks hooks = {capture, enter, NULL};
    tpsl_set_thread_hooks(&hooks);
}

static bool is_openmp(const char *library)
{
    static const char *const names[] = {"libgomp.", "libomp.", "libiomp5."};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(library, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Where libtpsl lies; from the linker. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static bool is_own(const void *address)
{
    return (const char *)address >= __ehdr_start && (const char *)address < _end;
}

static bool program_is_go;

static bool is_program(const struct tpsl_location *at)
{
    return at->path && !*at->path;
}

/* Programs in Go that use cgo have this function. So may libraries that are no business of the program's threads. */
static void look_for_go(void)
{
    struct tpsl_location at;
    const void *found = tpsl_process_symbol("crosscall2", NULL);
    program_is_go = found && tpsl_locate(found, &at) && is_program(&at);
}

/* Whether an address is in a function that stands in front of ours, as sanitizers have. */
static bool is_front(const struct tpsl_location *at)
{
    static const char name[] = "pthread_create";
    size_t n = at->symbol ? strlen(at->symbol) : 0;
    return n >= sizeof name - 1 && strcmp(at->symbol + n - (sizeof name - 1), name) == 0;
}

/* Finds the caller of pthread_create, whatever stands between. */
static bool find_caller(uintptr_t pc, bool exact, void *caller)
{
    struct tpsl_location at;
    if (!tpsl_locate((void *)pc, &at))
        return false;
    *(const char **)caller = at.object;
    return is_own((void *)pc) || is_front(&at);
}

/* libc's pthread_create, and the first one of the process. That is a sanitizer's, if there is one,
 * which must know every thread and calls ours; else it is ours. */
static tpsl_thread_create *_Atomic libc_create, *_Atomic front_create;

/* Found at load, after the loader has opened the program (ldso.c), and before the Go runtime makes its
 * first thread: that call could not look symbols up while a dlopen that brings libtpsl holds ld.so's
 * lock and waits for the runtime. */
__attribute__((constructor(102))) static void find_functions(void)
{
    atomic_store(&libc_create, (tpsl_thread_create *)tpsl_function_behind("pthread_create", pthread_create));
    atomic_store(&front_create, (tpsl_thread_create *)tpsl_process_symbol("pthread_create", NULL));
    look_for_go();
}

/* For threads of the Go runtime, and of instances. */
static __thread bool passing __attribute__((tls_model("initial-exec")));

static int pass(pthread_t *thread, const pthread_attr_t *attr, void *(*routine)(void *), void *argument)
{
    passing = true;
    int rc = atomic_load(&front_create)(thread, attr, routine, argument);
    passing = false;
    return rc;
}

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attr, void *(*routine)(void *), void *restrict argument)
{
    const void *caller = __builtin_return_address(0);
    struct tpsl_location at = {.object = ""};
    if (!atomic_load(&libc_create))
        find_functions(); /* a constructor that runs before ours */
    tpsl_thread_create *create = atomic_load(&libc_create);
    if (!create)
        return EAGAIN;
    if (passing)
        return create(thread, attr, routine, argument);
    if (is_own(caller))
        return pass(thread, attr, routine, argument);
    if (!tpsl_self)
        return create(thread, attr, routine, argument);
    if (tpsl_locate(caller, &at) && is_front(&at))
        tpsl_stack_walk(find_caller, &at.object);
    if (is_openmp(at.object) || (program_is_go && is_program(&at)))
        return create(thread, attr, routine, argument);
    return tpsl_thread_create_inheriting(create, thread, attr, routine, argument);
}

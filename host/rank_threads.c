// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Threads of ranks: what they are made with, what they have from their beginning (a stack for the handler of
 * faults, and the rank's locale), and what happens at their end. */
#include "host.h"

#include <errno.h>
#include <limits.h>
#include <sys/mman.h>
#include <unistd.h>

/* The shim's part, of the instance that makes the thread. */
static void *capture(void)
{
    return tpsl_current ? tpsl_instance_symbol(tpsl_current, "tpsl_thread_begins", NULL) : NULL;
}

/* libc does the same in a process with code that runs on the stack, such as nested functions of C. libc
 * may give the stack to another thread later, which then has an executable stack, too. */
bool tpsl_stack_executable(void)
{
    pthread_attr_t a;
    void *start;
    size_t size;
    errno = pthread_getattr_np(pthread_self(), &a);
    if (errno != 0)
        return false;
    pthread_attr_getstack(&a, &start, &size);
    pthread_attr_destroy(&a);
    return mprotect(start, size, PROT_READ | PROT_WRITE | PROT_EXEC) == 0;
}

static void enter(void *begins)
{
    if (tpsl_instance_needs_exec_stack(tpsl_current))
        tpsl_stack_executable(); /* without, the thread crashes at its first nested function, and that is told */
    tpsl_give_signal_stack();
    ((void (*)(void))begins)();
}

static bool is_callers(const pthread_attr_t *a, size_t *size)
{
    void *start;
    pthread_attr_getstack(a, &start, size);
    return (uintptr_t)start + *size != 0; /* libc keeps the end */
}

/* libc takes a thread's thread-local variables from its stack: in a flat process a few hundred bytes,
 * in the host 64 KiB, for the lent block. So a thread of a rank gets a stack that is larger by this
 * block. Memory that the caller provides cannot grow; if it would leave less than PTHREAD_STACK_MIN, it
 * is refused. */
static int widen(pthread_attr_t *a)
{
    size_t size, block = tpsl_stack_taken();
    if (is_callers(a, &size))
        return size && size < block + PTHREAD_STACK_MIN ? EINVAL : 0;
    pthread_attr_getstacksize(a, &size); /* the default, if it is not set */
    return pthread_attr_setstacksize(a, size + block);
}

size_t tpsl_stack_taken(void)
{
    size_t page = (size_t)getpagesize();
    return (tpsl_static_tls_size() + page - 1) & ~(page - 1);
}

static pthread_key_t at_end;

static void call(void *function)
{
    ((void (*)(void))function)();
}

void tpsl_at_thread_end(void (*function)(void))
{
    pthread_setspecific(at_end, (void *)function);
}

static void *wait_for_cancellation(void *unused)
{
    for (;;)
        pause();
    return NULL;
}

/* The first pthread_cancel makes libc install its handler of signal 32 and load the unwinder, once per
 * address space. A rank that did so would have the handler alone, and the other ranks would die of the
 * signal. So the host does it before there are ranks, and all ranks have it. The handler of signal 33,
 * for setuid and similar calls, comes with the first pthread_create. */
static void cancel_once(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, wait_for_cancellation, NULL) != 0)
        return; /* the host will not start its ranks, either */
    pthread_cancel(thread);
    pthread_join(thread, NULL);
}

void tpsl_threads_start(void)
{
    pthread_key_create(&at_end, call);
    cancel_once();
    static const struct tpsl_thread_hooks hooks = {capture, enter, widen};
    tpsl_set_thread_hooks(&hooks);
}

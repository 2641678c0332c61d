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

/* As libc does in a process with code that runs on the stack: nested functions of C. A stack that libc
 * gives to another thread later stays so. */
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

/* libc takes a thread's block of thread-locals from its stack. In a flat process that is a few hundred bytes. A thread of
 * a rank gets what the lent block takes on top. Memory of the caller cannot grow: what leaves less than any thread may
 * have is refused. */
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

/* At the first pthread_cancel libc sets its handler of signal 32 and loads the unwinder, once. A rank that did so would
 * have the handler alone, and the others would die of the signal. What is done here, before there are ranks, all of them have.
 * The handler of signal 33, for setuid and its kin, comes with the first pthread_create. */
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

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The end of the first thread while the rank continues: pthread_exit, or a cancellation. A process ends when its last
 * thread ends. libc counts the threads of all ranks, so the first thread stays and waits for the others. A thread that
 * joins the first thread does not wait for this. */
/* With this, pthread_cleanup_push uses setjmp and covers every call. The other implementation does not cover functions
 * that are declared to throw nothing, such as exit, nor a second end inside the first. */
#undef __EXCEPTIONS
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "shim.h"

static pthread_t first; /* 0 before main is called */
static void *result = PTHREAD_CANCELED;
static bool ended;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t end = PTHREAD_COND_INITIALIZER;

static _Noreturn void wait_for_others(void)
{
    for (int round = 1; tpsl_threads() - (round % 16 ? 0 : tpsl_kernel_threads()) > 1; round++)
        usleep(1000);
    exit(0);
}

/* The handlers that the program pushed have run. If a function of atexit gets here again, nothing more is done, as in libc. */
static void first_ends(void *unused)
{
    if (ended)
        _exit(0);
    tpsl_thread_locals_end();
    tpsl_keys_end();
    pthread_mutex_lock(&lock);
    ended = true;
    pthread_cond_broadcast(&end);
    pthread_mutex_unlock(&lock);
    wait_for_others();
}

/* libc unwinds the thread up to here, because this handler was pushed first. */
_Noreturn void tpsl_first_thread(int (*main)(int, char **, char **), int argc, char **argv)
{
    first = pthread_self();
    pthread_cleanup_push(first_ends, NULL);
    exit(main(argc, argv, environ));
    pthread_cleanup_pop(0);
    __builtin_unreachable();
}

void pthread_exit(void *value)
{
    if (!first && gettid() == getpid()) /* in a constructor, there is nothing to unwind to */
        wait_for_others();
    if (pthread_self() == first)
        result = value;
    BEHIND(pthread_exit)(value);
    __builtin_unreachable();
}

void thrd_exit(int value)
{
    pthread_exit((void *)(intptr_t)value); /* in the form in which libc's thrd_join expects it */
}

static void unlock(void *unused)
{
    pthread_mutex_unlock(&lock);
}

/* Waits until the first thread has ended; without a time, for ever. The result is an error number. */
static int join_first(void **value, clockid_t clock, const struct timespec *time)
{
    int error = 0;
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(unlock, NULL);
    while (!ended && !error)
        error = time ? pthread_cond_clockwait(&end, &lock, clock, time) : pthread_cond_wait(&end, &lock);
    if (ended) {
        error = 0;
        if (value)
            *value = result;
    }
    pthread_cleanup_pop(1);
    return error;
}

static bool is_other_first(pthread_t thread)
{
    return thread == first && thread != pthread_self();
}

int pthread_join(pthread_t thread, void **value)
{
    return is_other_first(thread) ? join_first(value, 0, NULL) : BEHIND(pthread_join)(thread, value);
}

int pthread_clockjoin_np(pthread_t thread, void **value, clockid_t clock, const struct timespec *time)
{
    return is_other_first(thread) ? join_first(value, clock, time) : BEHIND(pthread_clockjoin_np)(thread, value, clock, time);
}

int pthread_timedjoin_np(pthread_t thread, void **value, const struct timespec *time)
{
    return pthread_clockjoin_np(thread, value, CLOCK_REALTIME, time);
}

int pthread_tryjoin_np(pthread_t thread, void **value)
{
    if (!is_other_first(thread))
        return BEHIND(pthread_tryjoin_np)(thread, value);
    int error = join_first(value, CLOCK_MONOTONIC, &(struct timespec){0}); /* long past */
    return error == ETIMEDOUT ? EBUSY : error;
}

int thrd_join(thrd_t thread, int *value)
{
    void *result;
    if (pthread_join(thread, &result) != 0)
        return thrd_error;
    if (value)
        *value = (int)(intptr_t)result;
    return thrd_success;
}

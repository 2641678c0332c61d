// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* What the loader does at the end of a thread. Each file that keeps something for a thread
 * adds a step, as libc calls the destructors of a thread's keys in no known order.
 */
#include "thread.h"

#include <limits.h>
#include <pthread.h>
#include <stdint.h>

static void (*steps[TPSL_END_STEPS])(void);

/* The key is made at load, so that its number is small and pthread_setspecific never allocates. */
static pthread_key_t key;

/* Destructors of other keys run in any order and may still use thread-local variables. So
 * these are freed in the last round. It is too late then to call a sanitizer's free. So memory
 * from malloc is freed in the rounds before. The value counts rounds. A thread that is watched only
 * since one of these destructors has fewer, and does not come to the last: its pages stay. So what others
 * could still find when the thread is gone is seen to in each. */
static void thread_ends(void *round)
{
    uintptr_t n = (uintptr_t)round;
    steps[TPSL_END_LISTED]();
    if (n == PTHREAD_DESTRUCTOR_ITERATIONS) {
        steps[TPSL_END_STATIC_TLS]();
        steps[TPSL_END_TLS]();
        return;
    }
    steps[TPSL_END_DLERROR]();
    pthread_setspecific(key, (void *)(n + 1));
}

__attribute__((constructor(101))) static void make_key(void)
{
    pthread_key_create(&key, thread_ends);
}

void tpsl_thread_end_step(enum tpsl_end_step step, void (*function)(void))
{
    steps[step] = function;
}

void tpsl_thread_end_watch(void)
{
    if (!pthread_getspecific(key))
        pthread_setspecific(key, (void *)1);
}

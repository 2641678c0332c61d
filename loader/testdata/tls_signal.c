// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* A handler counts in a thread-local while its thread touches it for the first time. The block is so large that
 * this takes many times longer than a timer's interval. The timer signals the thread itself, so one CPU is enough. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { SIZE = 16 << 20, INTERVAL = 20 * 1000 /* ns */ };
static __thread volatile struct {
    int first;
    char between[SIZE];
    int calls;
} block = {.first = 7};
static atomic_int calls; /* of the present thread's handler */

static void count(int number)
{
    calls++;
    block.calls++;
}

static void *touch(void *unused)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
    struct itimerspec often = {{0, INTERVAL}, {0, INTERVAL}};
    timer_t timer;
    int wrong;
    event.sigev_notify_thread_id = gettid();
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &often, NULL))
        return "no timer";
    wrong = block.first != 7;
    while (calls == 0)
        ;
    timer_delete(timer);
    signal(SIGUSR1, SIG_IGN);
    return wrong || block.calls != calls ? "wrong" : NULL;
}

/* How many of `rounds` threads read a wrong value, lost a call, or had no timer. */
int wrong_reads(int rounds)
{
    int wrong = 0;
    for (int i = 0; i < rounds; i++) {
        pthread_t thread;
        void *trouble;
        calls = 0;
        signal(SIGUSR1, count);
        if (pthread_create(&thread, NULL, touch, NULL) || pthread_join(thread, &trouble) || trouble)
            wrong++;
    }
    signal(SIGUSR1, SIG_DFL);
    return wrong;
}

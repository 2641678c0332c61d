// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* A handler reads a thread-local while its thread touches it for the first time. The block is so large that this takes a while. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

enum { SIZE = 4 << 20, LAST = SIZE - 1 };
static __thread volatile char block[SIZE] = {[0] = 1, [LAST] = 7};
static atomic_int heard, wrong;
static _Atomic(int) running, stop;

static void look(int number)
{
    heard++;
    if (block[0] != 1 || block[LAST] != 7)
        wrong++;
}

static void *touch(void *unused)
{
    running = 1;
    if (block[0] != 1 || block[LAST] != 7)
        wrong++;
    running = 2;
    while (!stop)
        ;
    return NULL;
}

/* How many reads of `rounds` threads and their handlers were wrong; -1: no handler was called. */
int wrong_reads(int rounds)
{
    signal(SIGUSR1, look);
    for (int i = 0; i < rounds; i++) {
        pthread_t thread;
        running = stop = 0;
        pthread_create(&thread, NULL, touch, NULL);
        while (running == 0)
            ;
        while (running == 1)
            pthread_kill(thread, SIGUSR1);
        stop = 1;
        pthread_join(thread, NULL);
    }
    signal(SIGUSR1, SIG_DFL);
    return heard ? wrong : -1;
}

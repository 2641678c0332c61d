// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Who waits for the lock of loader/signal_lock.c takes no processor time, and counts of four
 * threads under it are exact. */
#include "thread.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 100000, HOLD_MS = 300, MAY_BURN_MS = 30 };

static atomic_int word;
static int counted;
static long burnt_ms;

static void *wait_for_it(void *unused)
{
    struct timespec used;
    sigset_t before;
    tpsl_lock(&word, &before);
    tpsl_unlock(&word, &before);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    burnt_ms = used.tv_sec * 1000 + used.tv_nsec / 1000000;
    return NULL;
}

static void *count(void *unused)
{
    sigset_t before;
    for (int i = 0; i < ROUNDS; i++) {
        tpsl_lock(&word, &before);
        counted++;
        tpsl_unlock(&word, &before);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    sigset_t before;
    tpsl_lock(&word, &before);
    pthread_create(&threads[0], NULL, wait_for_it, NULL);
    usleep(HOLD_MS * 1000);
    tpsl_unlock(&word, &before);
    pthread_join(threads[0], NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, count, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%s, %d counted\n", burnt_ms < MAY_BURN_MS ? "slept" : "spun", counted);
    return 0;
}

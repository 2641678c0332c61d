// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Who waits for a lock of loader/libc_locks.c for long takes little processor time, and counts of four threads under each
 * lock are exact. */
#include "libc.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 100000, HOLD_MS = 600, MAY_BURN_MS = 120 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t spin;
static int under_mutex, under_spin;
static long burnt_ms[2];

static long used_ms(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

static void *wait_for_mutex(void *unused)
{
    tpsl_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    burnt_ms[0] = used_ms();
    return NULL;
}

static void *wait_for_spin(void *unused)
{
    tpsl_spin_lock(&spin);
    pthread_spin_unlock(&spin);
    burnt_ms[1] = used_ms();
    return NULL;
}

static void *count(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        tpsl_mutex_lock(&mutex);
        under_mutex++;
        pthread_mutex_unlock(&mutex);
        tpsl_spin_lock(&spin);
        under_spin++;
        pthread_spin_unlock(&spin);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_mutex_lock(&mutex);
    pthread_spin_lock(&spin);
    pthread_create(&threads[0], NULL, wait_for_mutex, NULL);
    pthread_create(&threads[1], NULL, wait_for_spin, NULL);
    usleep(HOLD_MS * 1000);
    pthread_mutex_unlock(&mutex);
    pthread_spin_unlock(&spin);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, count, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++)
        if (burnt_ms[i] >= MAY_BURN_MS)
            printf("waiter %d took %ld ms of a processor\n", i, burnt_ms[i]);
    printf("%d and %d counted\n", under_mutex, under_spin);
    return 0;
}

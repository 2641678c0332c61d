// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Who waits long for a lock of loader/libc_locks.c sleeps, and counts of four threads under each lock are exact. */
#include "libc.h"

#include <stdio.h>
#include <time.h>

enum { THREADS = 4, ROUNDS = 100000, HOLD_MS = 300 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t spin;
static int under_mutex, under_spin;
static __thread int slept;

/* What the locks call. */
int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    slept++;
    return clock_nanosleep(CLOCK_REALTIME, 0, wanted, left);
}

static void *wait_for_mutex(void *unused)
{
    tpsl_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return slept ? "slept" : "did not sleep";
}

static void *wait_for_spin(void *unused)
{
    tpsl_spin_lock(&spin);
    pthread_spin_unlock(&spin);
    return slept ? "slept" : "did not sleep";
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
    clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){.tv_nsec = HOLD_MS * 1000000}, NULL);
    pthread_mutex_unlock(&mutex);
    pthread_spin_unlock(&spin);
    void *said[2];
    pthread_join(threads[0], &said[0]);
    pthread_join(threads[1], &said[1]);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, count, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%s, %s, %d and %d counted\n", (char *)said[0], (char *)said[1], under_mutex, under_spin);
    return 0;
}

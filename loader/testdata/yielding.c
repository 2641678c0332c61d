// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Who waits for a lock of loader/libc_locks.c sleeps before long: the locks are given when both that wait have slept. Counts of four threads
 * under each lock are exact. */
#include "libc.h"

#include <semaphore.h>
#include <stdio.h>
#include <time.h>

enum { THREADS = 4, ROUNDS = 100000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t spin;
static int under_mutex, under_spin;
static __thread int slept;
static sem_t first_sleeps; /* one of each that waits */

/* What the locks call. */
int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    if (slept++ == 0)
        sem_post(&first_sleeps);
    return clock_nanosleep(CLOCK_REALTIME, 0, wanted, left);
}

static void *wait_for_mutex(void *unused)
{
    tpsl_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void *wait_for_spin(void *unused)
{
    tpsl_spin_lock(&spin);
    pthread_spin_unlock(&spin);
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
    sem_wait(&first_sleeps);
    sem_wait(&first_sleeps);
    pthread_mutex_unlock(&mutex);
    pthread_spin_unlock(&spin);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, count, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("both slept, %d and %d counted\n", under_mutex, under_spin);
    return 0;
}

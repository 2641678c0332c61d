// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Threads that allocate nothing, and how many arenas malloc has. */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4 };

static pthread_barrier_t all;

static void *wait_for_all(void *unused)
{
    pthread_barrier_wait(&all);
    return unused;
}

int arenas(void)
{
    char *text, *at;
    size_t size;
    int n = 0;
    FILE *f = open_memstream(&text, &size);
    malloc_info(0, f);
    fclose(f);
    for (at = text; (at = strstr(at, "<heap nr=")); at++)
        n++;
    free(text);
    return n;
}

/* Arenas that THREADS threads bring while all of them are there. */
int arenas_of_threads(void)
{
    pthread_t threads[THREADS];
    int before = arenas(), during;
    pthread_barrier_init(&all, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, wait_for_all, NULL))
            return -1;
    pthread_barrier_wait(&all);
    during = arenas();
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return during - before;
}

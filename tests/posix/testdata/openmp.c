// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* OpenMP with the small stacks that OMP_STACKSIZE asks for. */
#include "posix.h"

#include <mpi.h>
#include <omp.h>
#include <pthread.h>

enum { THREADS = 4, USED = 32 << 10 };

/* Writes to so much of the calling thread's stack, and reads it again. */
static int use_stack(int seed)
{
    volatile unsigned char bytes[USED];
    int sum = 0;
    for (int i = 0; i < USED; i++)
        bytes[i] = (unsigned char)(i * seed);
    for (int i = 0; i < USED; i++)
        sum += bytes[i];
    return sum;
}

/* Only a stack that the variable has made small shows anything: a private rank's has 64 KiB more. */
static int has_small_stack(void)
{
    pthread_attr_t a;
    size_t size;
    OK(pthread_getattr_np(pthread_self(), &a));
    OK(pthread_attr_getstacksize(&a, &size));
    OK(pthread_attr_destroy(&a));
    return size <= 256 << 10;
}

static void team(void)
{
    int used[THREADS], small[THREADS], threads = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : threads)
    {
        int me = omp_get_thread_num();
        threads++;
        used[me] = use_stack(me + 1);
        small[me] = has_small_stack();
    }
    SAY("%d threads", threads);
    for (int i = 1; i < THREADS; i++) /* the first one has the stack of main */
        SAY("%d: %d %d", i, used[i], small[i]);
}

static void nested(void)
{
    int sum = 0, threads = 0;
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2) reduction(+ : sum, threads)
    {
#pragma omp parallel num_threads(3) reduction(+ : sum, threads)
        {
            sum += use_stack(omp_get_thread_num() + 1);
            threads++;
        }
    }
    SAY("%d threads, %d", threads, sum);
}

static void tasks(void)
{
    int results[64];
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    for (int i = 0; i < 64; i++)
#pragma omp task firstprivate(i) shared(results)
        results[i] = use_stack(i);
    for (int i = 0; i < 64; i++)
        SAY("%d", results[i]);
}

static void reduced(void)
{
    int level, sum = 0, all;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
#pragma omp parallel num_threads(THREADS) reduction(+ : sum)
    sum += use_stack(rank + omp_get_thread_num());
    MPI_Allreduce(&sum, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    SAY("%d %d", sum, all);
    MPI_Finalize();
}

const struct program programs[] = {PROGRAM(team), PROGRAM(nested), PROGRAM(tasks), PROGRAM(reduced), {NULL, NULL}};

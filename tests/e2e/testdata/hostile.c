/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * hostile: with LIBRARY, a library that several threads cannot use, as it counts in a variable; else a program whose
 * ranks use it. Each prints what the library knows in the end.
 */
#include <mpi.h>
#include <stdio.h>
#ifdef SWITCH
#include <tpsl.h>
#endif

int hostile_count(void);
int hostile_rank(void);
double hostile_sum(int a, double b, int c, int d, int e, int f, int g, double h, int i, int j, long k);
int hostile_call(int (*function)(int), int argument);
extern int hostile_number, hostile_open(void);
extern const int *const hostile_place;
unsigned hwloc_get_api_version(void); /* the name of a function of hwloc, which is below MPICH */
extern __thread int hostile_local;

#ifdef LIBRARY

#ifdef STATIC_TLS
__thread char room[STATIC_TLS] __attribute__((tls_model("initial-exec")));
static __thread int count __attribute__((tls_model("initial-exec")));
#else
static int count;
#endif
int hostile_number = -1;
__thread int hostile_local;
const int *const hostile_place = &hostile_number; /* another address in each copy, and read-only */

int hostile_count(void)
{
    return ++count;
}

int hostile_rank(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

double hostile_sum(int a, double b, int c, int d, int e, int f, int g, double h, int i, int j, long k)
{
    return a + b + c + d + e + f + g + h + i + j + (double)k;
}

int hostile_call(int (*function)(int), int argument)
{
    return function(argument);
}

unsigned hwloc_get_api_version(void)
{
    return 4;
}

/* A second copy that found the first one's number here would be wrong. */
int hostile_open(void)
{
    hostile_number = hostile_number < 0 ? 42 : 43;
    return 0;
}

#else

static int (*const functions[])(void) = {hostile_count, hostile_rank};

static int twice(int x)
{
    return 2 * x;
}

int main(int argc, char **argv)
{
#ifdef LOCAL
    hostile_local = 1;
#endif
    printf("before: %d\n", hostile_count()); /* the process's own copy */
    const int *place = hostile_place;
#pragma omp parallel
    {
        int size, rank, last = 0;
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        for (int turn = 0; turn < 10 * size; turn++) { /* one after the other: shared, the copy counts right, too */
            if (turn % size == rank)
                last = functions[0]();
            MPI_Barrier(MPI_COMM_WORLD);
        }
        printf("rank %d: counted to %d, rank %d, sum %g, call %d, name %u, number %d\n", rank, last, functions[1](),
               hostile_sum(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), hostile_call(twice, 21), hwloc_get_api_version(), hostile_number);
#ifdef SWITCH
        if (rank == 0) { /* thread 0 as rank 1 has that rank's thread-locals for itself, and then its own again */
            TPSL_Switch(1);
            int other = hostile_count();
            TPSL_Switch(0);
            printf("thread 0: as rank 1 %d, as rank 0 %d\n", other, hostile_count());
        }
#endif
        MPI_Finalize();
    }
    return place != hostile_place;
}

#endif

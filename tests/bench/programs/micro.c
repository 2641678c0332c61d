/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * micro: what the runtime adds. Under mpiexec -n 8 -rpp 8.
 *
 *   BenchmarkInstance  one more private instance, until its functions can be called,
 *                      without MPI_Init; the mean of all but the first
 *   BenchmarkStub      a call of MPI_Comm_rank through its stub, less one through a
 *                      pointer to the instance's function; the median
 */
#include <mpi.h>

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS = 1000000, ROUNDS = 15 };

typedef int comm_rank(MPI_Comm, int *);

static double now(void) /* s */
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double time_calls(comm_rank *volatile f) /* ns per call */
{
    int rank;
    double start = now();
    for (int i = 0; i < CALLS; i++)
        f(MPI_COMM_WORLD, &rank);
    return (now() - start) / CALLS * 1e9;
}

/* The thread's first MPI call makes its instance. */
static void time_instance(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    double start = now();
    MPI_Get_library_version(version, &length);
    static double all; /* of those after the first */
    int later = omp_get_num_threads() - 1;
    if (omp_get_thread_num() > 0)
        all += now() - start;
    if (omp_get_thread_num() == later)
        printf("BenchmarkInstance %d %.3f ms/instance\n", later, all / later * 1e3);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void time_stub(void)
{
    comm_rank *direct = (comm_rank *)TPSL_Symbol(TPSL_Slot(), "MPI_Comm_rank");
    double more[ROUNDS];
    for (int i = 0; i < ROUNDS; i++)
        more[i] = time_calls(MPI_Comm_rank) - time_calls(direct);
    qsort(more, ROUNDS, sizeof *more, compare);
    printf("BenchmarkStub %d %.3f ns/call\n", CALLS, more[ROUNDS / 2]);
}

int main(int argc, char **argv)
{
#pragma omp parallel
    {
#pragma omp for ordered schedule(static, 1)
        for (int i = 0; i < omp_get_num_threads(); i++)
#pragma omp ordered
            time_instance();
        MPI_Init(&argc, &argv);
        MPI_Barrier(MPI_COMM_WORLD);
        if (TPSL_Slot() == 0)
            time_stub();
#pragma omp barrier
        MPI_Finalize();
    }
    return 0;
}

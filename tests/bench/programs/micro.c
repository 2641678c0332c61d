/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * micro: what the runtime adds. Under mpiexec -n 8 -rpp 8.
 *
 *   BenchmarkInstance  one more private instance, until its functions can be called,
 *                      without MPI_Init; the first one is not counted
 *   BenchmarkStub      a call of MPI_Comm_rank through its stub, less one through a
 *                      pointer to the instance's function
 */
#include <mpi.h>

#include <omp.h>
#include <stdio.h>
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
    double took = now() - start;
    if (omp_get_thread_num() > 0)
        printf("BenchmarkInstance 1 %.3f ms/instance\n", took * 1e3);
}

static void time_stub(void)
{
    comm_rank *direct = (comm_rank *)TPSL_Symbol(TPSL_Slot(), "MPI_Comm_rank");
    for (int i = 0; i < ROUNDS; i++) {
        double with = time_calls(MPI_Comm_rank), without = time_calls(direct);
        printf("BenchmarkStub %d %.3f ns/call\n", CALLS, with - without);
    }
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

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Rank 0 runs a command of the shell, for which $PPID is this process, while the
 * others wait for it in MPI_Bcast. */
#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { RANKS = 16 };

static int done; /* one for all ranks, as are these */
static _Atomic int about_to_wait[RANKS];
static clockid_t clocks[RANKS];
static long before[RANKS];

/* CPU time of a thread in nanoseconds. */
static long used(int thread)
{
    struct timespec t;
    clock_gettime(clocks[thread], &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void tell(int thread)
{
    pthread_getcpuclockid(pthread_self(), &clocks[thread]);
    before[thread] = used(thread);
    about_to_wait[thread] = 1;
}

/* A thread that has run for 5 ms since it told is in MPI_Bcast, which polls. */
static void await_others(void)
{
    for (int i = 1; i < omp_get_num_threads(); i++)
        while (!about_to_wait[i] || used(i) - before[i] < 5000000)
            usleep(1000);
}

int main(int argc, char **argv)
{
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); /* Yama would let no debugger in */
#pragma omp parallel
    {
        int rank;
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (rank == 0) {
            await_others();
            done = system(argv[1]) == 0 ? 1 : 2;
        } else {
            tell(omp_get_thread_num());
        }
        MPI_Bcast(&done, 1, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Finalize();
    }
    return done - 1;
}

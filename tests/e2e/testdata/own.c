/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0 */

/* own [WHAT]: each thread of an OpenMP team is a rank. The last one does something. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void last_rank(const char *what, int rank)
{
    if (strcmp(what, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 7);
    else if (strcmp(what, "error") == 0)
        MPI_Send(&rank, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
    else if (strcmp(what, "exit") == 0)
        exit(3);
    else if (strcmp(what, "crash") == 0)
        *(volatile int *)16 = 1;
    else if (strcmp(what, "wait") == 0) {
        puts("ready");
        fflush(stdout);
        pause();
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "alone") == 0) {
        int n;
        MPI_Init(&argc, &argv);
        MPI_Comm_size(MPI_COMM_WORLD, &n);
        printf("alone: %d\n", n);
        return MPI_Finalize();
    }
#pragma omp parallel
    {
        int rank, n, sum = 0;
        MPI_Init(NULL, NULL, omp_get_thread_num());
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &n);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (*what && rank == n - 1)
            last_rank(what, rank);
        if (*what)
            MPI_Barrier(MPI_COMM_WORLD);
        printf("rank %d of %d, slot %d, sum %d\n", rank, n, TPSL_Slot(), sum);
        MPI_Finalize();
    }
}

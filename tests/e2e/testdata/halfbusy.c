// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Two OpenMP threads that are ranks, until they are killed: rank 0 computes, and rank 1 sleeps a millisecond at a time. */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv)
{
#pragma omp parallel
    {
        int rank;
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Barrier(MPI_COMM_WORLD);
        for (volatile long n = 0;; n++)
            if (rank == 1)
                usleep(1000);
    }
    return 0;
}

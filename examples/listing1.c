/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * listing1: listing 1 of the TPSL paper. MPI_Init takes the thread ID, a
 * number in [0, N) where N is the number of ranks of this process.
 */

#include <mpi.h>
#include <omp.h>
#include <stdio.h>

int main(int argc, char **argv)
{
#pragma omp parallel
{
    MPI_Init(&argc, &argv, omp_get_thread_num());

    int rank, size;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("thread %d of %d is rank %d of %d\n", omp_get_thread_num(),
           omp_get_num_threads(), rank, size);
    MPI_Finalize();
}
    return 0;
}

/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * sum: each rank learns the sum of all ranks' numbers, and checks it; rank 0 tells it.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
#pragma omp parallel
    {
        int rank, ranks, sum = -1;
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (sum != ranks * (ranks - 1) / 2)
            abort();
        if (rank == 0)
            printf("sum: %d of %d ranks\n", sum, ranks);
        MPI_Finalize();
    }
    return 0;
}

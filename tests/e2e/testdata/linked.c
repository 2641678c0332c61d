/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * linked: the smallest MPICH program whose threads may be ranks.
 */
#include <mpi.h>

#include <stdio.h>

int main(int argc, char **argv)
{
#pragma omp parallel
    {
        int rank, size;
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        printf("rank %d of %d\n", rank, size);
        MPI_Finalize();
    }
    return 0;
}

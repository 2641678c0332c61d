/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * standard_flat: a flat program for the standard ABI. Each process says who it is.
 */
#include <mpi_abi.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    int rank = -1, size = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("rank %d of %d\n", rank, size);
    return MPI_Finalize();
}

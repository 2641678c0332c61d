/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * brief: Init, Barrier, Finalize on every rank.
 */
#include <mpi.h>

#include <stdio.h>

int main(int argc, char **argv)
{
#pragma omp parallel
    {
        MPI_Init(&argc, &argv);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Finalize();
    }
    puts("brief: done");
    return 0;
}

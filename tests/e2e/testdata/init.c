/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * init: prints what MPI_Init returns to each thread.
 */
#include <mpi.h>

#include <omp.h>
#include <stdio.h>

int main(int argc, char **argv)
{
#pragma omp parallel
    {
        int result = MPI_Init(&argc, &argv);
#pragma omp critical
        printf("MPI_Init: %d\n", result);
    }
    return 0;
}

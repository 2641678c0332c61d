// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* MPI_Init in a constructor, as programs of Fortran with static coarrays have it. */
#include <mpi.h>
#include <stdio.h>

__attribute__((constructor)) static void initialise(void) { MPI_Init(NULL, NULL); }

int main(void)
{
    int rank, sum;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d: sum %d\n", rank, sum);
    return MPI_Finalize();
}

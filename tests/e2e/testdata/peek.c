/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/* Rank 1 reads a variable of rank 0 at its address. With an argument, rank 1 kills its
 * parent process instead. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, value = 42;
    int *volatile address = &value;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1)
        value = 0;
    MPI_Bcast((void *)&address, sizeof address, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank == 1 && argc > 1) {
        kill(getppid(), SIGKILL);
        pause();
    }
    int seen = rank == 1 ? *address : 42;
    if (rank == 1)
        printf("rank 1 reads %d\n", seen);
    MPI_Finalize(); /* rank 0's variable lives until here */
    return seen != 42;
}

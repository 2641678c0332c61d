/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/* Rank 1 reads a variable of rank 0 at its address. With the argument kill, it kills its
 * parent process instead. With another one, a file to make, all wait for SIGUSR1 first. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t caught;

static void on_signal(int number)
{
    caught = 1;
}

static void wait_for_signal(int rank, const char *ready)
{
    signal(SIGUSR1, on_signal);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        fclose(fopen(ready, "w"));
    while (!caught)
        usleep(1000);
    printf("rank %d caught SIGUSR1\n", rank);
}

int main(int argc, char **argv)
{
    int rank, value = 42;
    int *volatile address = &value;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1)
        value = 0;
    MPI_Bcast((void *)&address, sizeof address, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (argc > 1 && strcmp(argv[1], "kill") != 0)
        wait_for_signal(rank, argv[1]);
    else if (rank == 1 && argc > 1) {
        kill(getppid(), SIGKILL);
        pause();
    }
    int seen = rank == 1 ? *address : 42;
    if (rank == 1)
        printf("rank 1 reads %d\n", seen);
    MPI_Finalize(); /* rank 0's variable lives until here */
    return seen != 42;
}

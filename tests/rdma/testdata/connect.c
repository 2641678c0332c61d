/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * connect ring|all COMMAND LEADER...: ranks talk to their neighbours in a ring, or each to all others. Then each leader, a
 * rank, runs COMMAND while all stay connected, one after the other. "%d" in it stands for the leader's parent: its launcher.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int rank, size;
#pragma omp threadprivate(rank, size)

/* Leaves the processor to the command while it waits. */
static int receive(int from)
{
    int token, there = 0;
    while (MPI_Iprobe(from, 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE), !there)
        usleep(2000);
    MPI_Recv(&token, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return token;
}

/* Round the ring and back to rank 0, twice: when a rank returns, all have called. */
static void meet(void)
{
    int token = 0, next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (int round = 0; round < 2; round++) {
        if (rank > 0)
            token = receive(before);
        MPI_Send(&token, 1, MPI_INT, next, 1, MPI_COMM_WORLD);
        if (rank == 0)
            token = receive(before);
    }
}

static void count(const char *format, char **leaders)
{
    for (meet(); *leaders; leaders++, meet())
        if (atoi(*leaders) == rank) {
            char command[4096];
            snprintf(command, sizeof command, format, (int)getppid());
            if (system(command))
                MPI_Abort(MPI_COMM_WORLD, 3);
        }
}

static void talk_to_all(void)
{
    for (int away = 1; away < size; away++) {
        int out = rank, in = -1, from = (rank + size - away) % size;
        MPI_Sendrecv(&out, 1, MPI_INT, (rank + away) % size, 0, &in, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (in != from)
            MPI_Abort(MPI_COMM_WORLD, 4);
    }
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
#pragma omp parallel
    {
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        if (argv[1][0] == 'a')
            talk_to_all();
        count(argv[2], argv + 3);
        MPI_Finalize();
    }
    return 0;
}

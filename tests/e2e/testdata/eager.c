/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * eager: rank 0 sends messages to the last rank that are not received until rank 0 has
 * seen whether they were sent at once (eager) or wait for their receiver (rendezvous).
 */
#include <mpi.h>

#include <omp.h>
#include <stdio.h>

enum { LOOKS = 10000, DATA = 1, GO = 2 };
static const int sizes[] = {8191, 8192, 16384};
static char buffers[2][16384];

static void send(int bytes, int to)
{
    MPI_Request request;
    int done = 0;
    MPI_Isend(buffers[0], bytes, MPI_BYTE, to, DATA, MPI_COMM_WORLD, &request);
    for (int i = 0; i < LOOKS && !done; i++)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    printf("%d bytes: %s\n", bytes, done ? "eager" : "rendezvous");
    MPI_Send(NULL, 0, MPI_BYTE, to, GO, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void receive(int bytes)
{
    MPI_Recv(NULL, 0, MPI_BYTE, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(buffers[1], bytes, MPI_BYTE, 0, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
#pragma omp parallel
    {
        int rank, size;
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
            if (rank == 0)
                send(sizes[i], size - 1);
            else if (rank == size - 1)
                receive(sizes[i]);
        MPI_Finalize();
    }
    return 0;
}

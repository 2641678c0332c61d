// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// The first half of the ranks is on one host, the second on another. Rank PAIR sends 16 MiB to its like on the other
// host, then rank 0 ends the job without MPI_Finalize, which MPICH 4.0.2 does not always survive over TCP. The others
// wait for that: who leaves earlier ends the job himself.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MESSAGES = 16, BYTES = 1 << 20 };

int main(int argc, char **argv)
{
    int pair = atoi(argv[1]);
#pragma omp parallel
    {
        int rank, size;
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        char *buffer = calloc(1, BYTES);
        for (int i = 0; i < MESSAGES; i++)
            if (rank == pair)
                MPI_Send(buffer, BYTES, MPI_CHAR, pair + size / 2, 0, MPI_COMM_WORLD);
            else if (rank == pair + size / 2)
                MPI_Recv(buffer, BYTES, MPI_CHAR, pair, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        free(buffer);
        if (rank == 0) {
            puts("sent");
            fflush(stdout);
            MPI_Abort(MPI_COMM_WORLD, 0);
        }
        for (;;)
            pause();
    }
    return 0;
}

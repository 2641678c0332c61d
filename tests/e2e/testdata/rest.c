/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * rest: ranks stay without doing anything, to be looked at; threads of one process, or processes. Each says "ready" when it
 * is up. They do not meet by MPI, in which many ranks on few CPUs would spin for long; with an argument they do, and send
 * 64 KiB to their neighbour: then they have connections and buffers.
 */
#include <mpi.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void talk(void)
{
    enum { BYTES = 64 << 10 };
    static char out[BYTES]; /* thread ranks send the same */
    char in[BYTES];
    int rank, size, sum;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Sendrecv(out, BYTES, MPI_CHAR, (rank + 1) % size, 0, in, BYTES, MPI_CHAR, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "late") == 0)
        usleep(500000);
#pragma omp parallel
    {
        MPI_Init(&argc, &argv);
        if (argc > 1 && strcmp(argv[1], "talk") == 0)
            talk();
        puts("ready");
        fflush(stdout);
        pause();
    }
    return 0;
}

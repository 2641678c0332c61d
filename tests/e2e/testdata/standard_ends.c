/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * standard_ends WAY: all ranks say who they are. Then rank 1 ends the job in this way: abort, exit or kill. With finalize
 * all ranks finalize, and with stay all wait.
 */
#include <mpi.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void end(const char *way)
{
    if (!strcmp(way, "abort"))
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (!strcmp(way, "exit"))
        exit(3);
    if (!strcmp(way, "kill"))
        kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "finalize";
#pragma omp parallel
    {
        int rank, size;
        MPI_Init(NULL, NULL);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        printf("rank %d of %d\n", rank, size);
        fflush(stdout);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1)
            end(way);
        if (strcmp(way, "finalize"))
            sleep(60);
        MPI_Finalize();
    }
    return 0;
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/*
 * openmpi [HOW]: a ring and a sum over all ranks; then rank 1 ends as HOW says, or stops, while
 * the others wait for it.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int rank, size, from = -1, sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &from, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d of %d: %d from the left, sum %d\n", rank, size, from, sum);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD); /* all have printed */
    if (rank == 1 && !strcmp(how, "abort"))
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (rank == 1 && !strcmp(how, "killed"))
        raise(SIGKILL);
    if (rank == 1 && !strcmp(how, "left"))
        _exit(3);
    if (rank == 1 && !strcmp(how, "stopped"))
        pause();
    if (*how && strcmp(how, "code"))
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return rank == 1 && !strcmp(how, "code") ? 5 : 0;
}

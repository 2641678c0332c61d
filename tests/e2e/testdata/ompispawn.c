// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/*
 * ompispawn: all ranks together spawn two more of this program, each of which adds up what the
 * parents have; then both sides part. The first child prints, and what it was given on its
 * command line.
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    char *args[] = {"two words", NULL};
    int rank, size, parents, children, sum = 0, codes[2];
    MPI_Comm other, all;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&other);
    if (other == MPI_COMM_NULL) {
        MPI_Comm_spawn(argv[0], args, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, codes);
        MPI_Comm_remote_size(other, &children);
        parents = size;
        MPI_Intercomm_merge(other, 0, &all);
    } else {
        MPI_Comm_remote_size(other, &parents);
        children = size;
        MPI_Intercomm_merge(other, 1, &all);
    }
    MPI_Comm_rank(all, &rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
    if (rank == 0 || rank == parents)
        printf("%d parents, %d children, sum %d, \"%s\"\n", parents, children, sum, argc > 1 ? argv[1] : "");
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&other);
    MPI_Finalize();
    return 0;
}

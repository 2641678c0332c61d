/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * lacking NAME: calls a function beside those that the library called older has.
 */
#include <mpi.h>

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    int size, provided, equal = -1;
    if (argc > 1 && !strcmp(argv[1], "MPI_Init_thread"))
        MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("size %d\n", size);
    fflush(stdout);
    if (argc > 1 && !strcmp(argv[1], "MPI_Barrier"))
        MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1 && !strcmp(argv[1], "PMPI_Comm_compare"))
        PMPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_SELF, &equal);
    MPI_Finalize();
    puts("done");
    return 0;
}

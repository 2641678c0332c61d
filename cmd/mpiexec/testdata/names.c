// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Publishes a name and looks it up. MPICH 4.0, started alone, asks for a launcher when it wants to know the universe size.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "";
    int *universe, known;

    MPI_Init(&argc, &argv);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &known);
    MPI_Publish_name("svc", MPI_INFO_NULL, "tag");
    MPI_Lookup_name("svc", MPI_INFO_NULL, port);
    printf("published and found at %s\n", port);
    MPI_Finalize();
    return 0;
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* ompinames: looks up what a client of-PMI has published, and publishes something for it. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "";

    MPI_Init(&argc, &argv);
    MPI_Lookup_name("of-PMI", MPI_INFO_NULL, port);
    printf("of-PMI: %s\n", port);
    MPI_Publish_name("of-PMIx", MPI_INFO_NULL, "port-of-PMIx");
    MPI_Finalize();
    return 0;
}

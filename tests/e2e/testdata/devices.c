// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// The devices that each rank finds in its environment, and whether what is meant for the process alone stays there.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *device = getenv("UCX_NET_DEVICES");
    printf("%d %s%s\n", rank, device ? device : "none", getenv("TPSL_ENV") ? " TPSL_ENV" : "");
    MPI_Finalize();
    return 0;
}

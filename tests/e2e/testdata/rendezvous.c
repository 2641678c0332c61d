// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Each of two ranks sends the other one 10 messages of 4 MiB, and looks at what it gets. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES = 10, BYTES = 4 << 20 };

int main(int argc, char **argv)
{
    int rank, wrong = 0;
    char *out = malloc(BYTES), *in = malloc(BYTES);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = 0; k < MESSAGES; k++) {
        memset(out, 2 * k + rank, BYTES);
        memset(in, -1, BYTES);
        MPI_Sendrecv(out, BYTES, MPI_BYTE, 1 - rank, 0, in, BYTES, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < BYTES; i++)
            wrong += in[i] != 2 * k + 1 - rank;
    }
    printf("rank %d: %d wrong\n", rank, wrong);
    MPI_Finalize();
    return 0;
}

/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * large: every rank sends 4 MiB to every other one.
 */
#include <mpi.h>

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1 << 20 }; /* ints */

static int value(int from, int to, int i)
{
    return (from * 64 + to) * 7919 + i;
}

static long exchange(int rank, int size)
{
    int *out = malloc(N * sizeof *out), *in = malloc(N * sizeof *in);
    long wrong = 0;
    for (int step = 1; step < size; step++) {
        int to = (rank + step) % size, from = (rank + size - step) % size;
        for (int i = 0; i < N; i++)
            out[i] = value(rank, to, i);
        MPI_Sendrecv(out, N, MPI_INT, to, step, in, N, MPI_INT, from, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            wrong += in[i] != value(from, rank, i);
    }
    free(out);
    free(in);
    return wrong;
}

int main(int argc, char **argv)
{
#pragma omp parallel
    {
        int rank, size;
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        printf("large: rank %d of %d, %ld wrong\n", rank, size, exchange(rank, size));
        MPI_Finalize();
    }
    return 0;
}

/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * partitioned: partitioned communication in a ring.
 */
#include <mpi.h>

#include <stdio.h>

enum { partitions = 4, count = 2, times = 3 };

static int ring(int rank, int size)
{
    int out[partitions * count], in[partitions * count], wrong = 0, left = (rank + size - 1) % size;
    MPI_Request send, receive;
    MPI_Psend_init(out, partitions, count, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
    MPI_Precv_init(in, partitions, count, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
    for (int t = 0; t < times; t++) {
        MPI_Start(&receive);
        MPI_Start(&send);
        for (int p = 0; p < partitions; p++) {
            out[p * count] = out[p * count + 1] = 100 * rank + 10 * t + p;
            MPI_Pready(p, send);
        }
        for (int p = 0; p < partitions; p++)
            for (int arrived = 0; !arrived;)
                MPI_Parrived(receive, p, &arrived);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
        for (int p = 0; p < partitions; p++)
            wrong += in[p * count] != 100 * left + 10 * t + p || in[p * count + 1] != in[p * count];
    }
    MPI_Request_free(&send);
    MPI_Request_free(&receive);
    return wrong;
}

int main(void)
{
    int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    {
        int rank, size;
        MPI_Init(NULL, NULL);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        wrong += ring(rank, size);
        MPI_Finalize();
    }
    printf("partitioned: %d wrong\n", wrong);
    return wrong != 0;
}

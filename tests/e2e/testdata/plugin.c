/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A library of an ordinary MPI program. */
#include <mpi.h>

/* Returns 0 if there are as many ranks as the argument says, and their sum is right. */
int work(void *ranks)
{
    int rank, size, sum;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return size == *(int *)ranks && sum == size * (size - 1) / 2 ? 0 : 1;
}

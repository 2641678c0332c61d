/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * multiple: THREAD_MULTIPLE in a process with one rank: every thread talks to the thread
 * of its number in the next rank. Compiles for plain MPI, too.
 */
#include <mpi.h>

#include <omp.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int provided, rank, size, wrong = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
#pragma omp parallel num_threads(3) reduction(+ : wrong)
    for (int i = 0; i < 20; i++) {
        int me = omp_get_thread_num(), out = rank * 100 + me, in = -1;
        MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, me, &in, 1, MPI_INT, (rank + size - 1) % size, me, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        wrong += in != (rank + size - 1) % size * 100 + me;
    }
    int total = 0;
    MPI_Allreduce(&wrong, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("multiple: %d ranks, provided %d, %d wrong\n", size, provided == MPI_THREAD_MULTIPLE, total);
    MPI_Finalize();
    return total != 0;
}

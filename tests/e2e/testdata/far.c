/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * far: every rank, a thread or a process, hears from every other. MPICH 4.0.2 over TCP often hangs in MPI_Finalize, with
 * mpiexec.hydra too: a rank waits in UCX for peers that already wait in a PMI barrier. So the job ends by MPI_Abort.
 */
#include <mpi.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    {
        int rank, size, out[64], in[64];
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < size; i++)
                out[i] = 100 * rank + i + round;
            MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
            for (int i = 0; i < size; i++)
                wrong += in[i] != 100 * i + rank + round;
        }
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Reduce(rank == 0 ? MPI_IN_PLACE : &wrong, &wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 0) {
            printf("far: %d ranks, %d wrong\n", size, wrong);
            fflush(stdout);
            MPI_Abort(MPI_COMM_WORLD, 0);
        }
        MPI_Barrier(MPI_COMM_WORLD); /* for ever */
    }
    return 1;
}

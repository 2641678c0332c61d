/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * share: ranks that have talked to each other wait, to be looked at, until stdin ends.
 */
#include <mpi.h>

#include <omp.h>
#include <stdio.h>

int main(int argc, char **argv)
{
#pragma omp parallel
    {
        int one = 1, sum;
        MPI_Init(&argc, &argv);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
#pragma omp barrier
#pragma omp master
        {
            puts("ready");
            fflush(stdout);
            while (getchar() != EOF)
                ;
        }
#pragma omp barrier
        MPI_Finalize();
    }
    return 0;
}

/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * team: a team of OpenMP threads that shrinks and grows again keeps its ranks.
 */
#include <mpi.h>

#include <omp.h>
#include <stdio.h>

enum { MAX = 16 };
static int rank_of[MAX], wrong;

static void exchange(int n)
{
    int rank, sum = 0, one = 1, flag = 0;
    MPI_Initialized(&flag);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!flag || rank != rank_of[omp_get_thread_num()] || sum != n) {
#pragma omp atomic
        wrong++;
    }
}

int main(int argc, char **argv)
{
    int n = omp_get_max_threads();
#pragma omp parallel
    {
        MPI_Init(&argc, &argv, omp_get_thread_num());
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_of[omp_get_thread_num()]);
    }
    for (int round = 0; round < 5; round++) {
#pragma omp parallel num_threads(2)
        {
            int rank;
            MPI_Comm_rank(MPI_COMM_WORLD, &rank);
            if (rank != rank_of[omp_get_thread_num()])
#pragma omp atomic
                wrong++;
        }
#pragma omp parallel num_threads(n)
        exchange(n);
    }
#pragma omp parallel num_threads(n)
    MPI_Finalize();
    printf("team: %d wrong\n", wrong);
    return wrong != 0;
}

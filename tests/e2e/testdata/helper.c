/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * helper: a pthread that a rank's thread makes acts for that rank; TPSL_Switch acts for
 * another one; MPI_Initialized tells the truth to a thread without a rank.
 */
#include <mpi.h>

#include <omp.h>
#include <pthread.h>
#include <stdio.h>

static void *inherit(void *out)
{
    MPI_Comm_rank(MPI_COMM_WORLD, out);
    return NULL;
}

static void *outside(void *out)
{
    MPI_Initialized(out);
    return NULL;
}

int main(int argc, char **argv)
{
    int wrong = 0, flag = 1;
    pthread_t t;
    pthread_create(&t, NULL, outside, &flag);
    pthread_join(t, NULL);
    wrong += flag;
#pragma omp parallel reduction(+ : wrong)
    {
        int provided, rank, got = -1;
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        pthread_t helper;
        pthread_create(&helper, NULL, inherit, &got);
        pthread_join(helper, NULL);
        wrong += got != rank;
        wrong += !TPSL_Same_process(rank) || TPSL_Rank_of(TPSL_Slot()) != rank;
#pragma omp barrier
        int other = (TPSL_Slot() + 1) % TPSL_Local_size();
        int mine = TPSL_Switch(other);
        MPI_Comm_rank(MPI_COMM_WORLD, &got);
        wrong += got != TPSL_Rank_of(other);
        TPSL_Switch(mine);
#pragma omp barrier
        MPI_Finalize();
    }
    printf("helper: %d wrong\n", wrong);
    return wrong != 0;
}

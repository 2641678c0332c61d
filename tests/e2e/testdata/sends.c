/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * sends: each rank sends three messages to the next one. How it calls MPI_Init is
 * chosen by a macro: TWO or THREE arguments, by its ADDRESS, THREAD.
 */
#include <mpi.h>

#include <omp.h>
#include <stdio.h>

static void init(int *argc, char ***argv)
{
#if defined(TWO)
    MPI_Init(argc, argv);
#elif defined(THREE)
    MPI_Init(argc, argv, omp_get_thread_num());
#elif defined(ADDRESS)
    int (*f)(int *, char ***) = MPI_Init;
    f(argc, argv);
#else
    int provided;
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
#endif
}

int main(int argc, char **argv)
{
#pragma omp parallel
    {
        int rank, size;
        init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        for (int i = 0; i < 3; i++) {
            int in = -1;
            MPI_Request request;
            MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, i, MPI_COMM_WORLD, &request);
            MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            if (in != (rank + size - 1) % size)
                MPI_Abort(MPI_COMM_WORLD, 1);
        }
        MPI_Finalize();
    }
    return 0;
}

/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * three: C++ has both forms of MPI_Init as overloads.
 */
#include <mpi.h>

#include <omp.h>

#include <cstdio>

int main(int argc, char **argv)
{
    int (*standard)(int *, char ***) = MPI_Init;
#pragma omp parallel
    {
        int rank, size;
        if (omp_get_thread_num() == 0)
            standard(&argc, &argv);
        else
            MPI_Init(&argc, &argv, omp_get_thread_num());
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        std::printf("rank %d of %d, slot %d\n", rank, size, TPSL_Slot());
        MPI_Finalize();
    }
    return 0;
}

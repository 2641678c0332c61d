// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// linked: the smallest program whose threads may be ranks, in C++.
#include <mpi.h>

#include <cstdio>
#include <stdexcept>

int main(int argc, char **argv)
{
#pragma omp parallel
    {
        int rank, size;
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        try {
            throw std::runtime_error("rank");
        } catch (const std::exception &thrown) {
            std::printf("%s %d of %d\n", thrown.what(), rank, size);
        }
        MPI_Finalize();
    }
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// What C++ programs with OpenMP use, in a flat program: thread-locals with constructors,
// critical sections, exceptions, streams, and files that exit has to flush.
#include <mpi.h>
#include <omp.h>

#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

thread_local int counter = 41;
static thread_local std::vector<int> list{1, 2, 3};
static std::string global = "global";
enum { THREADS = 2, ROUNDS = 50 };

static int team(int rank)
{
    int sum = 0, shared = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : sum)
    for (int i = 0; i < ROUNDS; i++) {
#pragma omp critical
        shared++;
        counter += rank;
        try {
            throw std::runtime_error("round");
        } catch (const std::exception &) {
            list.push_back(counter);
        }
        sum += list.back();
    }
    return shared == THREADS * ROUNDS ? sum : -1;
}

int main(int argc, char **argv)
{
    int rank, size, total = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    global += std::to_string(rank);
    int sum = team(rank);
    MPI_Allreduce(&sum, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (argc > 1)
        std::fputs(global.c_str(), std::fopen((argv[1] + std::to_string(rank)).c_str(), "w"));
    std::cout << "rank " << rank << " of " << size << ": " << sum << " " << total << " " << global << "\n";
    MPI_Finalize();
}

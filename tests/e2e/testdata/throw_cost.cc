// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Prints what a throw through a few frames costs, in ns: without an instance in the
 * process, then with one per thread. */
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

__attribute__((noinline)) static int deep(int n)
{
    if (n == 0)
        throw n;
    int result = deep(n - 1);
    asm volatile("" ::: "memory"); // no tail call
    return result;
}

/* The best of several rounds: others use the machine, too. */
static double cost()
{
    enum { ROUNDS = 20, THROWS = 2000 };
    double best = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        auto start = std::chrono::steady_clock::now();
        for (int k = 0; k < THROWS; k++)
            try {
                deep(5);
            } catch (int) {
            }
        std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
        best = std::min(best, took.count() / THROWS);
    }
    return best;
}

int main()
{
    double before = cost();
#pragma omp parallel
    {
        char version[MPI_MAX_LIBRARY_VERSION_STRING];
        int length;
        MPI_Get_library_version(version, &length); // brings the instance up
    }
    std::printf("%.0f %.0f\n", before, cost());
}

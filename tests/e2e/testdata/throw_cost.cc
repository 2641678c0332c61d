// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Prints what a throw through a few frames costs in ns, without an instance in the
 * process and with one per thread, and how many times as much that is: the median of
 * pairs. A child that was made before the instances measures in turns with its parent. */
#include <mpi.h>
#include <unistd.h>

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
    enum { ROUNDS = 8, THROWS = 100 };
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

/* The child answers each byte with a cost. */
static void answer(int questions, int answers)
{
    char byte;
    while (read(questions, &byte, 1) == 1) {
        double c = cost();
        if (write(answers, &c, sizeof c) != sizeof c)
            break;
    }
    _exit(0);
}

static double median(double *list, int n)
{
    std::nth_element(list, list + n / 2, list + n);
    return list[n / 2];
}

int main()
{
    int questions[2], answers[2];
    if (pipe(questions) || pipe(answers))
        return 1;
    if (fork() == 0) {
        close(questions[1]);
        answer(questions[0], answers[1]);
    }
    close(answers[1]);
#pragma omp parallel
    {
        char version[MPI_MAX_LIBRARY_VERSION_STRING];
        int length;
        MPI_Get_library_version(version, &length); // brings the instance up
    }
    enum { PAIRS = 301 };
    static double without[PAIRS], with[PAIRS], ratio[PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        if (i % 2)
            with[i] = cost();
        if (write(questions[1], "", 1) != 1 || read(answers[0], &without[i], sizeof *without) != sizeof *without)
            return 1;
        if (i % 2 == 0)
            with[i] = cost();
        ratio[i] = with[i] / without[i];
    }
    std::printf("%.0f %.0f %.3f\n", median(without, PAIRS), median(with, PAIRS), median(ratio, PAIRS));
}

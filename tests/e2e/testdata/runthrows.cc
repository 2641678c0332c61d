/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Functions of TPSL_Run that throw: caught inside, and past its end. */
#include <mpi.h>

#include <cstdio>
#include <stdexcept>
#include <string>

static int catches(void *)
{
    try {
        throw std::runtime_error("caught");
    } catch (const std::exception &e) {
        return std::string(e.what()) == "caught" ? 0 : 1;
    }
}

static int throws(void *)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1)
        throw std::runtime_error("not caught");
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}

int main()
{
    if (TPSL_Run(2, catches, nullptr, nullptr) != 0)
        return 9;
    std::puts("caught");
    std::fflush(stdout);
    try {
        return TPSL_Run(2, throws, nullptr, nullptr);
    } catch (...) {
        std::puts("an exception of a rank came to the caller");
        return 8;
    }
}

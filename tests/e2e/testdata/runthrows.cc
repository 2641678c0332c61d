/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Functions of TPSL_Run that throw: caught inside, and past its end. */
#include <mpi.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

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

/* Returns 10 more than the exit status of a child that throws. */
static int child_throws(void *)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        throw std::runtime_error("not caught");
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? 10 + WEXITSTATUS(status) : 1;
}

int main(int argc, char **)
{
    if (argc > 1)
        return TPSL_Run(1, child_throws, nullptr, nullptr);
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

/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * rest: ranks stay without doing anything, to be looked at; threads of one process, or processes. Each says "ready" when it
 * is up. They do not meet by MPI, in which many ranks on few CPUs would spin for long.
 */
#include <mpi.h>

#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
#pragma omp parallel
    {
        MPI_Init(&argc, &argv);
        puts("ready");
        fflush(stdout);
        pause();
    }
    return 0;
}

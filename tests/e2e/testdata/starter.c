/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * starter: a program that is linked with MPICH, and starts another one.
 */
#include <mpi.h>

#include <stdlib.h>

int main(void)
{
    int initialized;
    MPI_Initialized(&initialized);
    return initialized || system("ulimit -v 1000000; env | grep ^LD_PRELOAD=; true");
}

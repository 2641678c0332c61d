/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * ranktool: a PMPI tool that counts the calls of MPI_Comm_rank.
 */
#include <mpi.h>

#include <stdio.h>

static int calls;

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    return PMPI_Comm_rank(comm, rank);
}

__attribute__((destructor)) static void report(void)
{
    if (calls)
        printf("tool: %d calls of MPI_Comm_rank\n", calls);
}

/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * tool: a PMPI tool that counts calls and prints the counts at the end.
 */
#include <mpi.h>

#include <stdio.h>

static int inits, sends, finalizes;

int MPI_Init(int *argc, char ***argv)
{
    __atomic_add_fetch(&inits, 1, __ATOMIC_RELAXED);
    return PMPI_Init(argc, argv);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    __atomic_add_fetch(&inits, 1, __ATOMIC_RELAXED);
    return PMPI_Init_thread(argc, argv, required, provided);
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    __atomic_add_fetch(&sends, 1, __ATOMIC_RELAXED);
    return PMPI_Send(buffer, count, type, to, tag, comm);
}

int MPI_Finalize(void)
{
    __atomic_add_fetch(&finalizes, 1, __ATOMIC_RELAXED);
    return PMPI_Finalize();
}

__attribute__((destructor)) static void report(void)
{
    if (inits)
        printf("tool: %d inits, %d sends, %d finalizes\n", inits, sends, finalizes);
}

/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * wanted: a tool's MPI_Init makes other MPI calls first; each thread still gets the slot
 * that it asked for.
 */
#include <mpi.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

int MPI_Init(int *argc, char ***argv)
{
    int length;
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    PMPI_Get_library_version(version, &length);
    return PMPI_Init(argc, argv);
}

static int wrong;

static void *rank(void *slot)
{
    TPSL_Init((int)(intptr_t)slot);
    if (TPSL_Slot() != (int)(intptr_t)slot)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
    MPI_Finalize();
    return NULL;
}

int main(void)
{
    pthread_t one, zero;
    pthread_create(&one, NULL, rank, (void *)1);
    pthread_create(&zero, NULL, rank, (void *)0);
    pthread_join(one, NULL);
    pthread_join(zero, NULL);
    printf("wanted: %d wrong\n", wrong);
    return wrong != 0;
}

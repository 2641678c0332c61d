/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * standard CASE: a program for the standard ABI. Its library is standard_library.
 */
#include <mpi.h>
#include "opal_library.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Handles keep all their bits on the way through. */
static int session(void)
{
    const uintptr_t info = (uintptr_t)1 << 40, handler = info - 12345;
    MPI_Session s = NULL;
    char *zero;
    MPI_Session_init((MPI_Info)info, (MPI_Errhandler)info, (MPI_Session *)&zero);
    int rc = MPI_Session_init((MPI_Info)info, (MPI_Errhandler)handler, &s);
    printf("session: %d, %s\n", rc, (char *)s == zero + 12345 ? "whole" : "cut off");
    return MPI_Session_finalize(&s);
}

static void *wait_inside(void *unused)
{
    MPI_Barrier(MPI_COMM_WORLD);
    return unused;
}

/* Two threads of a rank are inside a call at once, which MPI_THREAD_MULTIPLE allows. */
static int together(void)
{
    int provided;
    pthread_t other;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    pthread_create(&other, NULL, wait_inside, NULL);
    wait_inside(NULL);
    pthread_join(other, NULL);
    puts("together");
    return MPI_Finalize();
}

/* Before there is a rank. */
static int version(void)
{
    int major, minor;
    MPI_Get_version(&major, &minor);
    printf("MPI %d.%d", major, minor);
    MPI_Abi_get_version(&major, &minor);
    printf(", ABI %d.%d\n", major, minor);
    return 0;
}

/* Rank 0 makes a segment, rank 1 attaches it, and still has it when rank 0 has left it. */
static int segment(void)
{
    struct segment made = {0};
#pragma omp parallel num_threads(2)
    {
        struct segment mine = {0};
        char *base = NULL;
        MPI_Init(NULL, NULL);
        for (int turn = 0; turn < 2; turn++) {
            if (TPSL_Slot() == turn) {
                mine = made;
                MPI_Alloc_mem(1 << 20, (MPI_Info)&mine, &base);
                made = mine;
            }
#pragma omp barrier
        }
        if (TPSL_Slot() == 0)
            MPI_Free_mem(&mine);
#pragma omp barrier
        if (TPSL_Slot() == 1) {
            memset(base, 1, 1 << 20);
            puts("still there");
            MPI_Free_mem(&mine);
        }
        MPI_Finalize();
    }
    return 0;
}

/* A function that came with a newer version of the standard than the library has. */
static int newer(void)
{
    MPI_Init(NULL, NULL);
    return MPI_Buffer_flush();
}

static int ranks(int argc, char **argv)
{
#pragma omp parallel
    {
        int rank = -1, size = -1;
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
#pragma omp critical
        printf("slot %d is rank %d of %d\n", TPSL_Slot(), rank, size);
        MPI_Finalize();
    }
    return 0;
}

static int nothing(void *unused) { return 0; }

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "session"))
        return session();
    if (argc > 1 && !strcmp(argv[1], "together"))
        return together();
    if (argc > 1 && !strcmp(argv[1], "segment"))
        return segment();
    if (argc > 1 && !strcmp(argv[1], "newer"))
        return newer();
    if (argc > 1 && !strcmp(argv[1], "version"))
        return version();
    if (argc > 1 && !strcmp(argv[1], "run"))
        return TPSL_Run(2, nothing, NULL, NULL);
    if (argc > 2 && !strcmp(argv[1], "level"))
        return TPSL_Run(2, nothing, NULL, &(struct TPSL_Options){.size = sizeof(struct TPSL_Options), .thread_level = atoi(argv[2])});
    return ranks(argc, argv);
}

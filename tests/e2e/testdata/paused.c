// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/*
 * paused POINT: a helper of rank 1 is stopped at a point of its way. Rank 1 then makes an MPI call by each of its ways into the library, and must not be
 * inside before the helper has gone on. POINT: fence, fenced (before and after membarrier), or inside (in the library, where it copies a message
 * of rank 1). Preloaded, with -DPRELOAD, is what stops it.
 */
#include <stdatomic.h>
#include <stddef.h>

/* Where the next helper is to be stopped, and whether it is; both are the preloaded library's. */
enum { NOWHERE, FENCE, FENCED, INSIDE };
extern atomic_int paused_at, is_paused;
extern void *paused_copy; /* the destination of the copy */

#ifdef PRELOAD
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>

atomic_int paused_at, is_paused;
void *paused_copy;

static void pause_here(int where)
{
    if (atomic_load(&paused_at) != where)
        return;
    atomic_store(&paused_at, NOWHERE);
    atomic_store(&is_paused, 1);
    while (atomic_load(&is_paused))
        ;
}

long syscall(long number, ...)
{
    static long (*next)(long, ...);
    __builtin_va_list list;
    long a[6];
    if (!next)
        next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    __builtin_va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = __builtin_va_arg(list, long);
    __builtin_va_end(list);
    int fences = number == SYS_membarrier && a[0] == MEMBARRIER_CMD_PRIVATE_EXPEDITED;
    if (fences)
        pause_here(FENCE);
    long result = next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (fences)
        pause_here(FENCED);
    return result;
}

void *memcpy(void *to, const void *from, size_t n)
{
    if (to == paused_copy && to)
        pause_here(INSIDE);
    for (size_t i = 0; i < n; i++)
        ((volatile char *)to)[i] = ((const char *)from)[i];
    return to;
}

#else
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tpsl.h>
#include <unistd.h>

enum { BYTES = 777, WAYS = 6 };
static const char *const ways[WAYS] = {"MPI_Test", "PMPI_Test", "mpi_test_", "MPI_Get_count", "TPSL_Symbol", "MPI_Iprobe"};
static atomic_int outside, entering, returned; /* what rank 1 does */

void mpi_test_(MPI_Fint *request, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *error);

/* Lets the helper go on when rank 1 has had time to come inside. */
static void *watch(void *way)
{
    while (!atomic_load(&entering))
        ;
    usleep(30000);
    printf("%s: %s\n", (const char *)way, atomic_load(&returned) ? "was inside with its helper" : "waited");
    atomic_store(&is_paused, 0);
    return NULL;
}

static void call(int way, MPI_Request *request)
{
    int flag;
    MPI_Fint handle = MPI_Request_c2f(*request), done, status[8], error;
    MPI_Status none = {0};
    int (*test)(MPI_Request *, int *, MPI_Status *) = TPSL_Symbol(1, "MPI_Test");
    atomic_store(&entering, 1);
    switch (way) {
    case 0:
        MPI_Test(request, &flag, MPI_STATUS_IGNORE);
        break;
    case 1:
        PMPI_Test(request, &flag, MPI_STATUS_IGNORE);
        break;
    case 2:
        mpi_test_(&handle, &done, status, &error);
        *request = MPI_Request_f2c(handle);
        break;
    case 3:
        MPI_Get_count(&none, MPI_INT, &flag);
        break;
    case 4:
        test(request, &flag, MPI_STATUS_IGNORE);
        break;
    case 5:
        MPI_Iprobe(0, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    atomic_store(&returned, 1);
}

/* Rank 1: has a helper stopped, and calls MPI meanwhile. */
static void meet_helper(int point, int way)
{
    static char buffer[BYTES];
    pthread_t thread;
    MPI_Request request;
    memset(buffer, 0, BYTES);
    paused_copy = buffer;
    MPI_Irecv(buffer, BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
    atomic_store(&entering, 0);
    atomic_store(&returned, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    pthread_create(&thread, NULL, watch, (void *)ways[way]);
    atomic_store(&paused_at, point);
    atomic_store(&outside, 1);
    while (!atomic_load(&is_paused))
        ;
    call(way, &request);
    pthread_join(thread, NULL);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < BYTES; i++)
        if (buffer[i] != way + 1)
            printf("byte %d is wrong\n", i);
    MPI_Send(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
}

/* Rank 0 helps rank 1 while it waits for it. */
static void be_helper(int way)
{
    char data[BYTES];
    memset(data, way + 1, BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    while (!atomic_load(&outside))
        ;
    atomic_store(&outside, 0);
    MPI_Ssend(data, BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int point = !strcmp(argv[1], "fence") ? FENCE : !strcmp(argv[1], "fenced") ? FENCED : INSIDE;
#pragma omp parallel
    {
        int rank;
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        for (int way = 0; way < WAYS; way++)
            if (rank == 1)
                meet_helper(point, way);
            else
                be_helper(way);
        MPI_Finalize();
    }
    return 0;
}
#endif

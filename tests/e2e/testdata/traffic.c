// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* traffic [WAY]: moves known amounts of data; under processes or as OpenMP threads. Each part begins with what it moves. WAY: late, where
 * rank 2 comes to each of five calls of MPI_Allreduce 400 ms after the last other one; killed, where rank 1 dies in the middle; more, where calls are made
 * from more places and on more communicators than tables hold. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, next, before;
#pragma omp threadprivate(rank, size, next, before)

/* 5 messages of 40 B to the next. */
static void exchange(void)
{
    int out[10] = {0}, in[10];
    for (int i = 0; i < 5; i++)
        MPI_Sendrecv(out, 10, MPI_INT, next, 1, in, 10, MPI_INT, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* A message of 1,000 B to the next, received from any rank. */
static void requests(void)
{
    char out[1000] = "", in[4000];
    MPI_Request all[2];
    MPI_Irecv(in, 4000, MPI_CHAR, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &all[0]);
    MPI_Isend(out, 1000, MPI_CHAR, next, 2, MPI_COMM_WORLD, &all[1]);
    MPI_Waitall(2, all, MPI_STATUSES_IGNORE);
}

/* 7 messages of 64 B to the next. */
static void persistent(void)
{
    char out[64] = "", in[128];
    MPI_Request all[2];
    MPI_Send_init(out, 64, MPI_CHAR, next, 3, MPI_COMM_WORLD, &all[0]);
    MPI_Recv_init(in, 128, MPI_CHAR, before, 3, MPI_COMM_WORLD, &all[1]);
    for (int i = 0; i < 7; i++) {
        MPI_Startall(2, all);
        MPI_Waitall(2, all, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&all[0]);
    MPI_Request_free(&all[1]);
}

/* A message of 8 B to the rank before, and one of 24 B to the next. */
static void matched(void)
{
    char out[24] = "", in[24];
    int done = 0, index;
    MPI_Message message;
    MPI_Request request;
    MPI_Isend(out, 8, MPI_CHAR, before, 4, MPI_COMM_WORLD, &request);
    MPI_Mprobe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(in, 8, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Irecv(in, 24, MPI_CHAR, before, 5, MPI_COMM_WORLD, &request);
    MPI_Send(out, 24, MPI_CHAR, next, 5, MPI_COMM_WORLD);
    while (!done)
        MPI_Testany(1, &request, &index, &done, MPI_STATUS_IGNORE);
}

/* Nothing. */
static void nothing(void)
{
    int data = 0;
    MPI_Request request;
    MPI_Irecv(&data, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&data, 1, MPI_INT, MPI_PROC_NULL, 6, &data, 1, MPI_INT, MPI_PROC_NULL, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Two broadcasts of 256 B by rank 1, three sums of 8 B, (i + 1) * 4 B from each to each i, 4 B from each to rank 2. */
static void collective(void)
{
    char some[256] = "";
    double one = 1, sum;
    int counts[64], places[64], mine[64], out[64] = {0}, in[64 * 64], all[64];
    MPI_Bcast(some, 256, MPI_CHAR, 1, MPI_COMM_WORLD);
    MPI_Bcast(some, 256, MPI_CHAR, 1, MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++)
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        counts[i] = i + 1, places[i] = 0, mine[i] = rank + 1, all[i] = i * (rank + 1);
    MPI_Alltoallv(out, counts, places, MPI_INT, in, mine, all, MPI_INT, MPI_COMM_WORLD);
    MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 2, MPI_COMM_WORLD);
}

/* Two puts of 8 B to the next, 16 B got from the rank before. */
static void one_sided(void)
{
    double *memory, data[2] = {0};
    MPI_Win window;
    MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_fence(0, window);
    MPI_Put(data, 1, MPI_DOUBLE, next, 0, 1, MPI_DOUBLE, window);
    MPI_Put(data, 1, MPI_DOUBLE, next, 8, 1, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    MPI_Get(data, 2, MPI_DOUBLE, before, 0, 2, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

/* A message of 12 B within each half: to the other rank of it. */
static void halves(void)
{
    MPI_Comm half;
    int own, data[3] = {0}, in[3];
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_set_name(half, "half");
    MPI_Comm_rank(half, &own);
    MPI_Sendrecv(data, 3, MPI_INT, 1 - own, 7, in, 3, MPI_INT, 1 - own, 7, half, MPI_STATUS_IGNORE);
    for (int i = 0; i < 4; i++)
        MPI_Barrier(half);
    MPI_Comm_free(&half);
}

static void late(void)
{
    double one = 1, sum;
    for (int i = 0; i < 5; i++) {
        if (rank == 2) { /* each of the others says when it is there: it may have had to wait for a CPU */
            for (int other = 1; other < size; other++)
                MPI_Recv(NULL, 0, MPI_CHAR, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            usleep(400000);
        } else {
            MPI_Send(NULL, 0, MPI_CHAR, 2, 6, MPI_COMM_WORLD);
        }
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void killed(void)
{
    exchange();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        kill(getpid(), SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);
}

#define FROM_2 MPI_Initialized(&yes); MPI_Initialized(&yes);
#define FROM_32 FROM_2 FROM_2 FROM_2 FROM_2 FROM_2 FROM_2 FROM_2 FROM_2 FROM_2 FROM_2 FROM_2 FROM_2 FROM_2 FROM_2 FROM_2 FROM_2
#define FROM_512 FROM_32 FROM_32 FROM_32 FROM_32 FROM_32 FROM_32 FROM_32 FROM_32 FROM_32 FROM_32 FROM_32 FROM_32 FROM_32 FROM_32 FROM_32 FROM_32

static void more(void)
{
    int yes;
    MPI_Comm twin[100];
    FROM_512 FROM_512 FROM_512 FROM_512
    for (int i = 0; i < 100; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &twin[i]);
        MPI_Barrier(twin[i]);
    }
    for (int i = 0; i < 100; i++)
        MPI_Comm_free(&twin[i]);
}

static void all(void)
{
    exchange();
    requests();
    persistent();
    matched();
    nothing();
    collective();
    one_sided();
    halves();
}

int main(int argc, char **argv)
{
    const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {{"all", all}, {"late", late}, {"killed", killed}, {"more", more}};
#pragma omp parallel
    {
        MPI_Init(NULL, NULL);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        next = (rank + 1) % size, before = (rank + size - 1) % size;
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
            if (strcmp(argc > 1 ? argv[1] : "all", ways[i].name) == 0)
                ways[i].run();
        if (MPI_Finalize() != MPI_SUCCESS) /* not a jump, which would return elsewhere */
            abort();
    }
    return 0;
}

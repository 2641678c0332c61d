// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/*
 * helped [WHY-NOT]: what rank 0 does with rank 1, which computes and calls no MPI until that has ended, or for long. WHY-NOT is a reason for which
 * neighbours must not help rank 1: the function by which it gives the library one of the program's, or MPI_THREAD_MULTIPLE. Rank 1 then
 * computes for less time.
 */
#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "each_rank.h"

enum { LARGE = 1 << 22, WORDS = LARGE / sizeof(int) };

static atomic_int begun, ended; /* for how many things rank 1 has left MPI, and how many rank 0 has done */
static int *buffers[2];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Whether rank 0 ends its thing while rank 1 computes. */
static bool compute_until(int things, double seconds)
{
    for (double begin = now(); atomic_load(&ended) < things && now() - begin < seconds;)
        for (volatile int i = 0; i < 1000; i++)
            ;
    return atomic_load(&ended) >= things;
}

static int free_nothing(MPI_Comm comm, int key, void *value, void *extra) { return MPI_SUCCESS; }
static void add_words(void *in, void *out, int *n, MPI_Datatype *type) {}
static void ignore(MPI_Comm *comm, int *error, ...) {}
static void ignore_win(MPI_Win *win, int *error, ...) {}
static int no_query(void *extra, MPI_Status *status) { return MPI_SUCCESS; }
static int no_free(void *extra) { return MPI_SUCCESS; }
static int no_cancel(void *extra, int done) { return MPI_SUCCESS; }

static const char *why_not = "";

static bool is_why(const char *name) { return strcmp(why_not, name) == 0; }

/* Gives the library a function of the program. */
static void give_function(void)
{
    MPI_Op op;
    MPI_Errhandler handler;
    MPI_Request request;
    int key;
    if (is_why("MPI_Op_create"))
        MPI_Op_create(add_words, 1, &op);
    if (is_why("MPI_Comm_create_errhandler"))
        MPI_Comm_create_errhandler(ignore, &handler);
    if (is_why("MPI_Win_create_errhandler"))
        MPI_Win_create_errhandler(ignore_win, &handler);
    if (is_why("MPI_Comm_create_keyval"))
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_nothing, &key, NULL);
    if (is_why("PMPI_Grequest_start")) {
        PMPI_Grequest_start(no_query, no_free, no_cancel, NULL, &request);
        PMPI_Grequest_complete(request);
        PMPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

enum { THINGS = 6 };
static const char *const names[THINGS] = {"send of 4 MiB", "synchronous send", "lock, put and unlock", "fetch and add", "one-sided sum", "allreduce of 1 MiB"};

static void do_with(int thing, MPI_Win win, MPI_Request *request)
{
    int one = 1, before;
    if (thing == 0)
        MPI_Send(buffers[0], WORDS, MPI_INT, 1, 0, MPI_COMM_WORLD);
    else if (thing == 1)
        MPI_Ssend(buffers[0], 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    else if (thing == 5)
        MPI_Wait(request, MPI_STATUS_IGNORE);
    else {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        if (thing == 2)
            MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        else if (thing == 3)
            MPI_Fetch_and_op(&one, &before, MPI_INT, 1, 1, MPI_SUM, win);
        else
            MPI_Accumulate(&one, 1, MPI_INT, 1, 2, 1, MPI_INT, MPI_SUM, win);
        MPI_Win_unlock(1, win);
    }
}

static void run(int rank, int thing, MPI_Win win, double seconds)
{
    MPI_Request request = MPI_REQUEST_NULL;
    memset(buffers[rank], rank ? 0 : thing + 1, LARGE);
    if (thing == 5)
        MPI_Iallreduce(buffers[rank], buffers[rank] + WORDS / 2, 1 << 18, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    else if (thing < 2 && rank == 1)
        MPI_Irecv(buffers[1], WORDS, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        while (atomic_load(&begun) <= thing)
            ;
        do_with(thing, win, &request);
        atomic_store(&ended, thing + 1);
    } else {
        atomic_store(&begun, thing + 1);
        bool in_time = compute_until(thing + 1, seconds);
        int own = buffers[1][thing == 0 ? WORDS - 1 : 0];
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        printf("%s: %s, %x\n", names[thing], in_time ? "while the other computes" : "later", in_time ? own : 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void be_rank(int *argc, char ***argv)
{
    int rank, level;
    int window[4] = {0};
    MPI_Win win;
    if (*argc > 1)
        why_not = (*argv)[1]; /* the same for both */
    MPI_Init_thread(argc, argv, is_why("MPI_THREAD_MULTIPLE") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    buffers[rank] = malloc(LARGE);
    MPI_Win_create(window, sizeof window, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (rank == 1)
        give_function();
    for (int thing = 0; thing < (*why_not ? 1 : THINGS); thing++)
        run(rank, thing, win, *why_not ? 0.3 : 20);
    MPI_Win_free(&win);
    if (rank == 1)
        printf("window: %d %d %d\n", window[0], window[1], window[2]);
    MPI_Finalize();
    free(buffers[rank]);
}

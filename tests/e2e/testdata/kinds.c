// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/*
 * kinds FILE|stay: messages of each kind: between two ranks, of all ranks, into windows, into a file.
 * Each rank prints what it found wrong. With "stay" rank 0 says so and all wait for ever.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 100000, PART = 1000 };

static int rank, size, wrong;

static int word(int of, int i) { return of * WORDS + i; }

static int *words(void)
{
    int *list = malloc(WORDS * sizeof *list);
    for (int i = 0; i < WORDS; i++)
        list[i] = word(rank, i);
    return list;
}

static void expect(const int *have, int of, int n)
{
    for (int i = 0; i < n; i++)
        wrong += have[i] != word(of, i);
}

/* Sizes on both sides of each change of the way that messages take. */
static void pairs(int *out)
{
    int *in = calloc(WORDS, sizeof *in), next = (rank + 1) % size, last = (rank + size - 1) % size;
    MPI_Request requests[2];
    for (int n = 0; n <= WORDS; n = n ? n * 3 : 1) {
        memset(in, 0, WORDS * sizeof *in);
        MPI_Irecv(in, n, MPI_INT, last, n, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, n, MPI_INT, next, n, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        expect(in, last, n);
    }
    free(in);
}

static void every_second(int *out)
{
    int in[PART] = {0}, next = (rank + 1) % size, last = (rank + size - 1) % size;
    MPI_Datatype second;
    MPI_Type_vector(PART, 1, 2, MPI_INT, &second);
    MPI_Type_commit(&second);
    MPI_Sendrecv(out, 1, second, next, 0, in, PART, MPI_INT, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < PART; i++)
        wrong += in[i] != word(last, 2 * i);
    MPI_Type_free(&second);
}

static void collectives(int *out)
{
    int *all = calloc((size_t)size * PART, sizeof *all), *sum = calloc(WORDS, sizeof *sum), *root = words(), before = 0;
    MPI_Comm half;
    MPI_Bcast(root, WORDS, MPI_INT, size - 1, MPI_COMM_WORLD);
    expect(root, size - 1, WORDS);
    MPI_Allgather(out, PART, MPI_INT, all, PART, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        expect(all + r * PART, r, PART);
    MPI_Allreduce(out, sum, WORDS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < WORDS; i++)
        wrong += sum[i] != size * (size - 1) / 2 * WORDS + size * i;
    MPI_Exscan(&size, &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wrong += rank > 0 && before != rank * size;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Allreduce(&rank, sum, 1, MPI_INT, MPI_MAX, half);
    wrong += *sum % 2 != rank % 2 || *sum < size - 2;
    MPI_Comm_free(&half);
    free(all), free(sum), free(root);
}

static void windows(int *out)
{
    int *mine, *theirs, one = 1, first = 0, count, next = (rank + 1) % size, last = (rank + size - 1) % size;
    MPI_Aint bytes;
    MPI_Comm host;
    MPI_Win window, shared;
    MPI_Win_allocate(WORDS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window);
    mine[0] = 0;
    MPI_Win_fence(0, window);
    MPI_Put(out + 1, WORDS - 1, MPI_INT, next, 1, WORDS - 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    for (int i = 1; i < WORDS; i++)
        wrong += mine[i] != word(last, i);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Fetch_and_op(&one, &first, MPI_INT, 0, 0, MPI_SUM, window);
    MPI_Win_unlock(0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Get(&first, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
    MPI_Win_unlock(0, window);
    wrong += first != size;
    MPI_Win_free(&window);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &count);
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, host, &mine, &shared);
    *mine = rank;
    MPI_Win_fence(0, shared);
    MPI_Win_shared_query(shared, count - 1, &bytes, &one, &theirs);
    MPI_Allreduce(&rank, &first, 1, MPI_INT, MPI_MAX, host); /* ranks of a host are in the order of their numbers */
    wrong += first != *theirs;
    MPI_Win_fence(0, shared);
    MPI_Win_free(&shared);
    MPI_Comm_free(&host);
}

static void file(int *out, const char *name)
{
    int *in = calloc(WORDS, sizeof *in), next = (rank + 1) % size;
    MPI_File f;
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    MPI_File_write_at_all(f, (MPI_Offset)rank * WORDS * (MPI_Offset)sizeof(int), out, WORDS, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(f);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(f);
    MPI_File_read_at_all(f, (MPI_Offset)next * WORDS * (MPI_Offset)sizeof(int), in, WORDS, MPI_INT, MPI_STATUS_IGNORE);
    expect(in, next, WORDS);
    MPI_File_close(&f);
    free(in);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *out = words();
    pairs(out);
    every_second(out);
    collectives(out);
    windows(out);
    if (strcmp(argv[1], "stay") == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            puts("ready");
        fflush(stdout);
        for (;;)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    file(out, argv[1]);
    printf("rank %d of %d: %d wrong\n", rank, size, wrong);
    free(out);
    MPI_Finalize();
    return wrong != 0;
}

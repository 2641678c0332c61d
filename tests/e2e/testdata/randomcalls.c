// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/*
 * randomcalls SEED CALLS: ranks make random calls until each has made so many, and compute between them: messages of all sizes,
 * modes and datatypes, collective operations that do not block, and one-sided operations. It prints what each rank has got as a number, and how
 * much of it is not what its neighbours must have sent.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "each_rank.h"

enum { MOST = 1 << 18, MESSAGES = 8, COUNTERS = 64, TAGS = 1000 };

struct message {
    MPI_Request requests[2];
    uint32_t *sent, *received;
    int words, from, round;
};

struct rank {
    uint64_t random; /* the same at all ranks */
    uint64_t own;    /* the rank's: how long it computes */
    uint64_t sum, wrong, calls;
    int rank, size, round;
    struct message messages[MESSAGES];
    uint32_t *in, *out;
    int64_t *window;
    MPI_Win win;
    MPI_Datatype spread; /* 3 words of each 4 */
};

#define CALL(r, call) ((r)->calls++, (call))

static uint64_t next(uint64_t *random)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return *random;
}

static uint64_t draw(struct rank *r, uint64_t n) { return next(&r->random) % n; }

static void add(struct rank *r, uint64_t value) { r->sum = (r->sum ^ value) * 0x100000001b3u; }

static void expect(struct rank *r, bool right) { r->wrong += !right; }

/* Computes for 0 to 50 us, at some times for longer. */
static void compute(struct rank *r)
{
    uint64_t n = next(&r->own) % 8 ? next(&r->own) % 1000 : next(&r->own) % 50000;
    for (volatile uint64_t i = 0; i < n; i++)
        ;
}

static uint32_t word(int from, int round, int i) { return (uint32_t)(from * 2654435761u + (unsigned int)round * 40503u + (unsigned int)i * 97u); }

/* Mostly small, and of all orders of magnitude. */
static int draw_words(struct rank *r) { return (int)draw(r, (uint64_t)1 << draw(r, 19)); }

static void check_message(struct rank *r, struct message *m, int n)
{
    bool right = true;
    for (int i = 0; i < m->words; i++)
        right &= m->received[i] == word(m->from, m->round, i);
    expect(r, right && n == m->words);
    add(r, m->words ? m->received[m->words - 1] : 1);
}

static void end_message(struct rank *r, struct message *m)
{
    MPI_Status statuses[2];
    int n, done = 0;
    if (m->round < 0)
        return;
    if (m->round % 3 == 0)
        for (int looks = 0; !done && looks < 20; looks++)
            CALL(r, MPI_Test(&m->requests[1], &done, MPI_STATUS_IGNORE));
    CALL(r, MPI_Waitall(2, m->requests, statuses));
    CALL(r, MPI_Get_count(&statuses[0], MPI_UINT32_T, &n));
    check_message(r, m, n);
    m->round = -1;
}

/* Each rank sends to the one that is `far` further. */
static void start_message(struct rank *r)
{
    struct message *m = &r->messages[draw(r, MESSAGES)];
    end_message(r, m);
    int far = (int)draw(r, (uint64_t)r->size), to = (r->rank + far) % r->size, mode = (int)draw(r, 3), tag = r->round % TAGS;
    m->from = (r->rank + r->size - far) % r->size;
    m->round = r->round;
    m->words = draw_words(r);
    for (int i = 0; i < m->words; i++)
        m->sent[i] = word(r->rank, r->round, i);
    memset(m->received, 0, (size_t)m->words * sizeof *m->received);
    CALL(r, MPI_Irecv(m->received, m->words, MPI_UINT32_T, m->from, tag, MPI_COMM_WORLD, &m->requests[0]));
    if (mode == 0)
        CALL(r, MPI_Issend(m->sent, m->words, MPI_UINT32_T, to, tag, MPI_COMM_WORLD, &m->requests[1]));
    else
        CALL(r, MPI_Isend(m->sent, m->words, MPI_UINT32_T, to, tag, MPI_COMM_WORLD, &m->requests[1]));
}

/* Blocks: every second rank sends first. */
static void exchange(struct rank *r)
{
    int n = draw_words(r) / 4, right = (r->rank + 1) % r->size, left = (r->rank + r->size - 1) % r->size;
    bool spread = draw(r, 2), first = r->rank % 2 == 0 && r->rank != r->size - 1;
    for (int i = 0; i < 4 * n; i++)
        r->in[i] = word(r->rank, r->round, i);
    memset(r->out, 0, (size_t)n * 16);
    MPI_Datatype type = spread ? r->spread : MPI_UINT32_T;
    int count = spread ? n : 4 * n;
    if (first)
        CALL(r, MPI_Send(r->in, count, type, right, TAGS, MPI_COMM_WORLD));
    CALL(r, MPI_Recv(r->out, count, type, left, TAGS, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (!first)
        CALL(r, MPI_Send(r->in, count, type, right, TAGS, MPI_COMM_WORLD));
    bool right_data = true;
    for (int i = 0; i < 4 * n; i++)
        right_data &= r->out[i] == (spread && i % 4 == 3 ? 0 : word(left, r->round, i));
    expect(r, right_data);
    add(r, n ? r->out[0] : 1);
}

static void collective(struct rank *r)
{
    MPI_Request request;
    int n = draw_words(r) / r->size, root = (int)draw(r, (uint64_t)r->size), which = (int)draw(r, 4);
    for (int i = 0; i < n * r->size; i++)
        r->in[i] = word(r->rank, r->round, i);
    if (which == 0)
        CALL(r, MPI_Iallreduce(r->in, r->out, n, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD, &request));
    else if (which == 1)
        CALL(r, MPI_Ibcast(r->rank == root ? r->in : r->out, n, MPI_UINT32_T, root, MPI_COMM_WORLD, &request));
    else if (which == 2)
        CALL(r, MPI_Ialltoall(r->in, n, MPI_UINT32_T, r->out, n, MPI_UINT32_T, MPI_COMM_WORLD, &request));
    else
        CALL(r, MPI_Ibarrier(MPI_COMM_WORLD, &request));
    compute(r);
    CALL(r, MPI_Wait(&request, MPI_STATUS_IGNORE));
    uint32_t *got = which == 1 && r->rank == root ? r->in : r->out;
    for (int i = 0; which < 3 && i < (which == 2 ? n * r->size : n); i++) {
        uint32_t want = 0;
        for (int k = 0; which == 0 && k < r->size; k++)
            want += word(k, r->round, i);
        if (which == 1)
            want = word(root, r->round, i);
        if (which == 2)
            want = word(i / n, r->round, r->rank * n + i % n);
        expect(r, got[i] == want);
    }
    add(r, which < 3 && n ? got[n - 1] : 1);
}

/* Adds to counters of another rank, and looks at the rank's own part of its memory there. */
static void one_sided(struct rank *r)
{
    int target = (r->rank + 1 + (int)draw(r, (uint64_t)r->size - 1)) % r->size, at = (int)draw(r, COUNTERS);
    int64_t one = 1, before, own[2] = {r->round, r->rank}, again[2] = {0};
    MPI_Aint place = COUNTERS + 2 * r->rank;
    bool exclusive = draw(r, 2);
    CALL(r, MPI_Win_lock(exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, r->win));
    CALL(r, MPI_Accumulate(&one, 1, MPI_INT64_T, target, at, 1, MPI_INT64_T, MPI_SUM, r->win));
    CALL(r, MPI_Fetch_and_op(&one, &before, MPI_INT64_T, target, (at + 1) % COUNTERS, MPI_SUM, r->win));
    CALL(r, MPI_Put(own, 2, MPI_INT64_T, target, place, 2, MPI_INT64_T, r->win));
    CALL(r, MPI_Win_flush(target, r->win));
    CALL(r, MPI_Get(again, 2, MPI_INT64_T, target, place, 2, MPI_INT64_T, r->win));
    CALL(r, MPI_Win_unlock(target, r->win));
    expect(r, again[0] == own[0] && again[1] == own[1]);
}

/* All counters have got all that was added. */
static void check_counters(struct rank *r, int64_t operations)
{
    int64_t own = 0, all = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, r->rank, 0, r->win);
    for (int i = 0; i < COUNTERS; i++)
        own += r->window[i];
    MPI_Win_unlock(r->rank, r->win);
    MPI_Allreduce(&own, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    expect(r, all == 2 * operations * r->size);
    add(r, (uint64_t)all);
}

static void start(struct rank *r, uint64_t seed)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &r->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r->size);
    r->random = seed * 2654435761u + 88172645463325252u;
    r->own = r->random + (uint64_t)r->rank;
    for (int i = 0; i < MESSAGES; i++)
        r->messages[i] = (struct message){.sent = malloc(MOST * 4), .received = malloc(MOST * 4), .round = -1};
    r->in = malloc((size_t)MOST * 4 + 16);
    r->out = malloc((size_t)MOST * 4 + 16);
    r->window = calloc(COUNTERS + 2 * (size_t)r->size, sizeof *r->window);
    MPI_Win_create(r->window, (MPI_Aint)sizeof *r->window * (COUNTERS + 2 * r->size), sizeof *r->window, MPI_INFO_NULL, MPI_COMM_WORLD, &r->win);
    MPI_Datatype three;
    MPI_Type_vector(1, 3, 4, MPI_UINT32_T, &three);
    MPI_Type_create_resized(three, 0, 16, &r->spread);
    MPI_Type_free(&three);
    MPI_Type_commit(&r->spread);
}

static void be_rank(int *argc, char ***argv)
{
    struct rank r = {0};
    uint64_t wanted = strtoull((*argv)[2], NULL, 10);
    int64_t operations = 0;
    MPI_Init(argc, argv);
    start(&r, strtoull((*argv)[1], NULL, 10));
    for (uint64_t each = 0; each < wanted; r.round++) { /* in the mean a round has four calls */
        uint64_t kind = draw(&r, 8);
        if (kind < 4)
            start_message(&r);
        else if (kind == 4)
            exchange(&r);
        else if (kind == 5)
            collective(&r);
        else
            one_sided(&r), operations++;
        compute(&r);
        each += 4;
    }
    for (int i = 0; i < MESSAGES; i++)
        end_message(&r, &r.messages[i]);
    check_counters(&r, operations);
    printf("rank %d: %d rounds, %016llx, %llu wrong\n", r.rank, r.round, (unsigned long long)r.sum, (unsigned long long)r.wrong);
    if (getenv("RANDOMCALLS_COUNT"))
        fprintf(stderr, "rank %d: %llu calls\n", r.rank, (unsigned long long)r.calls);
    MPI_Type_free(&r.spread);
    MPI_Win_free(&r.win);
    for (int i = 0; i < MESSAGES; i++) {
        free(r.messages[i].sent);
        free(r.messages[i].received);
    }
    free(r.in);
    free(r.out);
    free(r.window);
    MPI_Finalize();
}

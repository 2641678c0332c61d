/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * farm: counts prime numbers by a task farm on tpslmsg.h, without MPI. Each thread has a port. Rank 0 hands out ranges
 * of numbers, the other ranks count, and rank 0 checks the sum.
 *
 *     cc -pthread farm.c $(pkg-config --cflags --libs tpslmsg) -Wl,-rpath,$(pkg-config --variable=libdir tpslmsg) -o farm
 *     mpiexec -n 4 ./farm 2       # 4 processes with 2 threads each; without mpiexec one process
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <tpslmsg.h>

enum { LAST = 2000000, STEP = 4000, PRIMES = 148933, BATCH = 64 };

struct range {
    int64_t from, to; /* none: there is no more to do */
};

/* What rank 0 knows of a worker. Its buffers are in use while something of it is under way. */
struct worker {
    struct range task;
    int64_t count;
    int under_way;
};

enum { RESULT, TASK }; /* tags, and the low bit of a cookie */

static tpslmsg_job job;
static int ranks, status;

/* Ends the process if a call has failed; mpiexec then ends the others. */
static int check(int result)
{
    if (result < 0) {
        fprintf(stderr, "farm: %s\n", tpslmsg_error());
        exit(1);
    }
    return result;
}

static void check_end(const struct tpslmsg_completion *c)
{
    if (c->error) {
        fprintf(stderr, "farm: rank %d: %s\n", c->peer, tpslmsg_text(c->error));
        exit(1);
    }
}

static struct tpslmsg_op message(int kind, int peer, int tag, void *buffer, size_t bytes)
{
    struct tpslmsg_op o = {0};
    o.kind = kind;
    o.peer = peer;
    o.tag = tag;
    o.buffer = buffer;
    o.bytes = bytes;
    o.cookie = (uint64_t)peer << 1 | (uint64_t)tag;
    return o;
}

static int64_t primes_in(struct range r)
{
    int64_t count = 0;
    for (int64_t n = r.from > 2 ? r.from : 2; n < r.to; n++) {
        int64_t d = 2;
        while (d * d <= n && n % d != 0)
            d++;
        count += d * d > n;
    }
    return count;
}

static void work(tpslmsg_port port)
{
    struct range task = {0, 0};
    int64_t count = 0; /* the first one says that this worker is there */
    for (;;) {
        struct tpslmsg_op both[] = {message(TPSLMSG_SEND, 0, RESULT, &count, sizeof count),
                                    message(TPSLMSG_RECEIVE, 0, TASK, &task, sizeof task)};
        struct tpslmsg_completion ends[2];
        check(tpslmsg_post(port, both, 2));
        for (int i = check(tpslmsg_reap(port, ends, 2, 2, TPSLMSG_FOREVER)); i > 0; i--)
            check_end(&ends[i - 1]);
        if (task.from == task.to)
            return;
        count = primes_in(task);
    }
}

/* Answers whom nothing is under way with: by a task and a receive for its result, or by the last message. */
static int answer(struct worker *w, int rank, int64_t *next, struct tpslmsg_op *ops)
{
    int n = 0;
    w->task.from = *next;
    *next = w->task.to = *next + STEP < LAST ? *next + STEP : LAST;
    ops[n++] = message(TPSLMSG_SEND, rank, TASK, &w->task, sizeof w->task);
    if (w->task.from != w->task.to)
        ops[n++] = message(TPSLMSG_RECEIVE, rank, RESULT, &w->count, sizeof w->count);
    w->under_way = n;
    return n;
}

static int64_t hand_out(tpslmsg_port port)
{
    struct worker *workers = calloc((size_t)ranks, sizeof *workers);
    struct tpslmsg_op *ops = calloc((size_t)(ranks > BATCH ? ranks : BATCH) * 2, sizeof *ops);
    struct tpslmsg_completion ends[BATCH];
    int64_t next = 0, sum = 0;
    int n = 0, under_way = 0;
    if (!workers || !ops)
        exit(1);
    for (int rank = 1; rank < ranks; rank++) {
        ops[n++] = message(TPSLMSG_RECEIVE, rank, RESULT, &workers[rank].count, sizeof workers[rank].count);
        workers[rank].under_way = 1;
    }
    while ((under_way += n) > 0) {
        if (n > 0)
            check(tpslmsg_post(port, ops, n));
        int got = check(tpslmsg_reap(port, ends, 1, BATCH, TPSLMSG_FOREVER));
        under_way -= got;
        n = 0;
        for (int i = 0; i < got; i++) {
            int rank = (int)(ends[i].cookie >> 1);
            struct worker *w = &workers[rank];
            check_end(&ends[i]);
            if ((ends[i].cookie & 1) == RESULT)
                sum += w->count;
            if (--w->under_way == 0 && !((ends[i].cookie & 1) == TASK && w->task.from == w->task.to))
                n += answer(w, rank, &next, ops + n);
        }
    }
    free(ops);
    free(workers);
    return sum;
}

static void *thread(void *rank)
{
    tpslmsg_port port;
    check(tpslmsg_open(job, (int)(intptr_t)rank, &port));
    if ((intptr_t)rank != 0) {
        work(port);
        return NULL;
    }
    int64_t sum = hand_out(port);
    if (ranks == 1)
        sum = primes_in((struct range){0, LAST});
    status = sum != PRIMES;
    printf("farm: %lld primes below %d by %d ranks: %s\n", (long long)sum, LAST, ranks, status ? "WRONG" : "right");
    return NULL;
}

int main(int argc, char **argv)
{
    struct tpslmsg_options options = {0};
    int first, here;
    options.size = sizeof options;
    options.ports = argc > 1 ? atoi(argv[1]) : 2;
    check(tpslmsg_start(&options, 60, &job));
    check(tpslmsg_ranks(job, &first, &here, &ranks));
    pthread_t *threads = calloc((size_t)here, sizeof *threads);
    if (!threads)
        return 1;
    for (int i = 0; i < here; i++)
        if (pthread_create(&threads[i], NULL, thread, (void *)(intptr_t)(first + i)) != 0)
            return 1;
    for (int i = 0; i < here; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    check(tpslmsg_end(job));
    return status;
}

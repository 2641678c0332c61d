// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* coherence ROUNDS [SEED [copy]]: messages out of and into memory that the ranks of a process pass around.
 *
 * In each round every block is dropped by one thread and made again by another, at an address that was most likely in use
 * before. Then each rank sends one block, and receives another. A NIC that still has the pages of before sends what was
 * there in an earlier round, and writes what it receives where nobody looks. So each word says which round, rank and page
 * it is of, and each is checked. All choices follow from the seed.
 *
 * With `copy` one more copy of UCX is opened when the caches are warm, as for a rank that comes later.
 */
#define _GNU_SOURCE /* mremap */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <tpsl.h>

#include "droppers.h"
#include "ways.h"

enum { SLOTS = 16, SPELL = 8 /* rounds of one way */, LIMIT = 540 /* s, as the test's */ };

static long rounds;
static uint64_t seed = 1;
static int copies; /* whether to open one more */
static int slots;  /* of this process */
static struct block blocks[2 * SLOTS]; /* to send from, to receive into */

struct rank {
    int slot, rank, size;
    MPI_Comm here; /* the ranks of this process; who waits in its barrier goes on to serve the others */
    long round, wrong, reused;
    unsigned shown; /* a bit for each way: one mistake is told */
    uintptr_t used[1 << 14]; /* addresses of pages, a hash table */
};

static uint64_t chosen(long round, int what, int below)
{
    uint64_t x = (seed * 1000003 + (uint64_t)round) * 31 + (uint64_t)what;
    for (int i = 0; i < 3; i++) /* xorshift, after a multiplication */
        x *= 0x9E3779B97F4A7C15u, x ^= x >> 29;
    return x % (uint64_t)below;
}

static const struct way *way_of(long round) { return &ways[(round / SPELL) % WAYS]; }
static const struct dropper *dropper_of(const struct rank *r, long round) { return &droppers[chosen(round, 10 + r->slot, DROPPERS)]; }

enum choice { DROPS, MAKES, SENDS, RECEIVES, FAR, ORDER };

/* Whether the block falls to the slot. */
static int is_of(const struct rank *r, enum choice c, int b)
{
    int turn = (int)chosen(r->round, c, slots);
    return (way_of(r->round)->alone ? turn : (b + turn) % slots) == r->slot;
}

static char *block_of(const struct rank *r, enum choice c)
{
    int b = (r->slot + (int)chosen(r->round, c, slots)) % slots;
    return blocks[c == SENDS ? b : slots + b].data;
}

static void each(struct rank *r, enum choice c, void (*act)(struct block *), int down)
{
    int n = 2 * slots;
    for (int i = 0; i < n; i++) {
        int b = down ? n - 1 - i : i;
        if (is_of(r, c, b))
            act(&blocks[b]);
    }
}

static void drop(void *rank)
{
    struct rank *r = rank;
    each(r, DROPS, way_of(r->round)->drop, 1);
}

static void end(void *rank)
{
    struct rank *r = rank;
    each(r, DROPS, way_of(r->round)->end, 1);
}

static void renew(struct rank *r)
{
    const struct way *way = way_of(r->round);
    if (r->round % SPELL)
        dropper_of(r, r->round)->run(&(struct job){drop, r});
    MPI_Barrier(r->here);
    each(r, MAKES, way->make, 0);
    MPI_Barrier(r->here);
}

static void end_spell(struct rank *r)
{
    MPI_Barrier(r->here);
    if ((r->round + 1) % SPELL && r->round + 1 < rounds)
        return;
    const struct way *way = way_of(r->round);
    dropper_of(r, r->round)->run(&(struct job){way->end ? end : drop, r});
    MPI_Barrier(r->here);
}

/* A round has two passes over the same memory: a message of the whole block, which both sides register, and one of each
 * page. In a quarter of the rounds the pages go first. */
static int is_whole(long pass) { return (chosen(pass / 2, ORDER, 4) == 0) == (pass % 2 != 0); }

static uint64_t word(long pass, int rank, int page, int i)
{
    return (uint64_t)(pass + 1) << 32 | (uint64_t)rank << 20 | (uint64_t)page << 12 | (uint64_t)i;
}

static void fill(struct rank *r, long pass, char *data)
{
    for (int page = 0; page < PAGES; page++) {
        uint64_t *w = (uint64_t *)(data + page * PAGE);
        for (int i = 0; i < PAGE / 8; i++)
            w[i] = word(pass, r->rank, page, i);
    }
}

static void show(struct rank *r, long pass, int from, int page, uint64_t has)
{
    char what[80] = "has not come";
    long way = way_of(pass / 2) - ways;
    if (r->shown >> way & 1)
        return;
    r->shown |= 1u << way;
    if (has)
        snprintf(what, sizeof what, "is what rank %ld had in page %ld in round %ld", (long)(has >> 20 & 0xFFF), (long)(has >> 12 & 0xFF),
                 ((long)(has >> 32) - 1) / 2);
    printf("rank %d: round %ld, %s from rank %d: page %d %s (%s)\n", r->rank, pass / 2, is_whole(pass) ? "a block" : "a page", from, page, what,
           ways[way].name);
    fflush(stdout);
}

/* The messages of a pass are right or wrong as a whole; a wrong block is one wrong message. */
static void check(struct rank *r, long pass, int from, const char *data)
{
    int wrong = 0;
    for (int page = 0; page < PAGES; page++) {
        const uint64_t *w = (const uint64_t *)(data + page * PAGE);
        int i = 0;
        while (i < PAGE / 8 && w[i] == word(pass, from, page, i))
            i++;
        if (i == PAGE / 8)
            continue;
        if (!wrong++)
            show(r, pass, from, page, w[i]);
    }
    r->wrong += is_whole(pass) ? wrong != 0 : wrong;
}

static int was_used(struct rank *r, const char *page)
{
    enum { N = sizeof r->used / sizeof *r->used };
    uintptr_t a = (uintptr_t)page;
    for (size_t i = 0, h = a / PAGE * 2654435761u; i < N; i++, h++) {
        uintptr_t *u = &r->used[h % N];
        if (*u == a)
            return 1;
        if (!*u) {
            *u = a;
            return 0;
        }
    }
    return 0;
}

/* Counts this round's messages whose addresses the rank has sent from in an earlier one. */
static void note(struct rank *r, const char *data)
{
    for (int page = 0; page < PAGES; page++)
        if (was_used(r, data + page * PAGE))
            r->reused += page ? 1 : 2; /* the page's message, and the block's */
}

static void exchange(struct rank *r, long pass)
{
    MPI_Request requests[2 * PAGES];
    MPI_Status statuses[2 * PAGES];
    int far = 1 + (int)chosen(r->round, FAR, r->size - 1), to = (r->rank + far) % r->size, from = (r->rank + r->size - far) % r->size;
    int n = is_whole(pass) ? 1 : PAGES, size = BLOCK / n;
    char *out = block_of(r, SENDS), *in = block_of(r, RECEIVES);
    fill(r, pass, out);
    for (int m = 0; m < n; m++)
        MPI_Irecv(in + m * size, size, MPI_BYTE, from, m, MPI_COMM_WORLD, &requests[m]);
    for (int m = 0; m < n; m++)
        MPI_Isend(out + m * size, size, MPI_BYTE, to, m, MPI_COMM_WORLD, &requests[n + m]);
    MPI_Waitall(2 * n, requests, statuses);
    check(r, pass, from, in);
}

static void open_copy(struct rank *r)
{
    if (r->slot == 0 && !TPSL_Dlopen("libucp.so.0")) {
        printf("rank %d: %s\n", r->rank, TPSL_Dlerror());
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Barrier(r->here);
}

static long report(struct rank *r)
{
    long mine[] = {r->wrong, r->reused, rounds * (PAGES + 1)}, sum[3];
    MPI_Allreduce(mine, sum, 3, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (r->rank == 0)
        printf("coherence: seed %lu, %d ranks: %ld messages, %ld from addresses used before, %ld wrong\n", (unsigned long)seed, r->size,
               sum[2], sum[1], sum[0]);
    fflush(stdout);
    return sum[0];
}

static void *rank_main(void *slot)
{
    static long wrong;
    struct rank *r = calloc(1, sizeof *r);
    r->slot = (int)(long)slot;
    TPSL_Init(r->slot);
    MPI_Comm_rank(MPI_COMM_WORLD, &r->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r->size);
    MPI_Comm_split(MPI_COMM_WORLD, TPSL_Rank_of(0), r->slot, &r->here);
    for (; r->round < rounds; r->round++) {
        if (r->round == SPELL && copies)
            open_copy(r);
        renew(r);
        note(r, block_of(r, SENDS));
        exchange(r, 2 * r->round);
        exchange(r, 2 * r->round + 1);
        end_spell(r);
    }
    long total = report(r);
    if (r->slot == 0)
        wrong = total;
    MPI_Comm_free(&r->here);
    free(r);
    MPI_Finalize();
    return &wrong;
}

int main(int argc, char **argv)
{
    pthread_t threads[SLOTS];
    long *wrong = NULL;
    alarm(LIMIT);
    rounds = argc > 1 ? atol(argv[1]) : 100;
    seed = argc > 2 ? strtoul(argv[2], NULL, 0) : seed;
    copies = argc > 3 && strcmp(argv[3], "copy") == 0;
    slots = TPSL_Local_size();
    set_up_malloc();
    set_up_unbound();
    for (long slot = 0; slot < slots; slot++)
        pthread_create(&threads[slot], NULL, rank_main, (void *)slot);
    for (int slot = 0; slot < slots; slot++)
        pthread_join(threads[slot], (void **)&wrong);
    return *wrong != 0;
}

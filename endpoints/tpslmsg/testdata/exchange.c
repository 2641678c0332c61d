/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * exchange: every kind of operation between the ports of a process, or with its number as argument one port for each of several
 * processes, of which rank 0 does the talking. Each answer is checked.
 */
#include "fixture.h"

enum { LARGE = 3 << 20, BATCH = 64, ROUNDS = 200 };

static int ranks;

static void fill(unsigned char *b, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++)
        b[i] = (unsigned char)(i * 7 + i / 251 + seed);
}

static int is_filled(const unsigned char *b, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++)
        if (b[i] != (unsigned char)(i * 7 + i / 251 + seed))
            return 0;
    return 1;
}

/* Batches of short messages, each with its own tag, received in the opposite order. */
static void batches(tpslmsg_port from, tpslmsg_port to, int self, int peer, int both)
{
    static uint64_t sent[BATCH], got[BATCH];
    struct tpslmsg_op ops[BATCH];
    struct tpslmsg_completion ends[BATCH];
    for (int round = 0; round < ROUNDS; round++) {
        if (both || self == 0) {
            for (int i = 0; i < BATCH; i++) {
                sent[i] = (uint64_t)(round * BATCH + i);
                ops[i] = (struct tpslmsg_op){.kind = TPSLMSG_SEND, .peer = peer, .tag = i, .context = 5, .buffer = &sent[i], .bytes = 8};
            }
            NEED(tpslmsg_post(from, ops, BATCH) == BATCH);
        }
        if (both || self != 0) {
            for (int i = 0; i < BATCH; i++)
                ops[i] = (struct tpslmsg_op){.kind = TPSLMSG_RECEIVE, .peer = TPSLMSG_ANY, .tag = BATCH - 1 - i, .context = 5, .buffer = &got[i], .bytes = 8, .cookie = (uint64_t)i};
            NEED(tpslmsg_post(to, ops, BATCH) == BATCH);
            NEED(tpslmsg_reap(to, ends, BATCH, BATCH, 60) == BATCH);
            for (int i = 0; i < BATCH; i++) {
                int at = (int)ends[i].cookie;
                NEED(ends[i].error == 0 && ends[i].bytes == 8 && ends[i].tag == BATCH - 1 - at && ends[i].context == 5 && !ends[i].signal);
                NEED(got[at] == (uint64_t)(round * BATCH + BATCH - 1 - at));
            }
        }
        if (both || self == 0)
            NEED(tpslmsg_reap(from, ends, BATCH, BATCH, 60) == BATCH);
    }
}

/* Messages of all sizes, and one that is longer than its buffer. */
static void sizes(tpslmsg_port port, int self, int peer)
{
    static unsigned char buffer[LARGE];
    static const size_t all[] = {0, 1, 40, 41, 8192, 8193, LARGE};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        struct tpslmsg_completion c;
        if (self == 0) {
            fill(buffer, all[i], i);
            c = perform(port, (struct tpslmsg_op){.kind = TPSLMSG_SEND, .peer = peer, .tag = 1, .buffer = buffer, .bytes = all[i]});
            NEED(c.error == 0);
        } else {
            memset(buffer, 0, LARGE);
            c = perform(port, (struct tpslmsg_op){.kind = TPSLMSG_RECEIVE, .peer = peer, .tag = TPSLMSG_ANY, .buffer = buffer, .bytes = LARGE});
            NEED(c.error == 0 && c.bytes == all[i] && c.peer == peer && c.tag == 1 && is_filled(buffer, all[i], i));
        }
    }
    struct tpslmsg_completion c = perform(port, (struct tpslmsg_op){.kind = self == 0 ? TPSLMSG_SEND : TPSLMSG_RECEIVE, .peer = peer, .buffer = buffer, .bytes = self == 0 ? 100 : 10});
    NEED(c.error == (self == 0 ? 0 : TPSLMSG_TRUNCATED) && c.bytes == (self == 0 ? 100 : 10));
}

/* What rank 0 does to a region of another port. */
static void accesses(tpslmsg_port port, const struct tpslmsg_key *key, int peer)
{
    static unsigned char out[LARGE], in[LARGE];
    uint64_t before = 1;
    fill(out, LARGE, 9);
    NEED(perform(port, (struct tpslmsg_op){.kind = TPSLMSG_PUT, .key = key, .offset = 8, .buffer = out, .bytes = LARGE - 8}).error == 0);
    struct tpslmsg_completion c = perform(port, (struct tpslmsg_op){.kind = TPSLMSG_GET, .key = key, .offset = 8, .buffer = in, .bytes = LARGE - 8});
    NEED(c.error == 0 && c.peer == peer && c.bytes == LARGE - 8 && memcmp(in, out, LARGE - 8) == 0);
    NEED(perform(port, (struct tpslmsg_op){.kind = TPSLMSG_FETCH_ADD, .key = key, .operand = 30, .buffer = &before, .bytes = 8}).error == 0 && before == 0);
    NEED(perform(port, (struct tpslmsg_op){.kind = TPSLMSG_FETCH_ADD, .key = key, .operand = 12, .bytes = 8}).error == 0);
    NEED(perform(port, (struct tpslmsg_op){.kind = TPSLMSG_COMPARE_SWAP, .key = key, .operand = 1, .replacement = 2, .buffer = &before, .bytes = 8}).error == 0 && before == 42);
    NEED(perform(port, (struct tpslmsg_op){.kind = TPSLMSG_COMPARE_SWAP, .key = key, .operand = 42, .replacement = 43, .buffer = &before, .bytes = 8}).error == 0 && before == 42);
    NEED(perform(port, (struct tpslmsg_op){.kind = TPSLMSG_PUT_SIGNAL, .key = key, .offset = LARGE - 4, .buffer = out, .bytes = 4, .context = 4000000000u}).error == 0);
}

/* What the port of the region finds afterwards. */
static void find(tpslmsg_port port, const unsigned char *region)
{
    struct tpslmsg_completion c;
    uint64_t word;
    NEED(tpslmsg_reap(port, &c, 1, 1, 60) == 1);
    NEED(c.signal == 1 && c.error == 0 && c.peer == 0 && c.context == 4000000000u && c.cookie == 0);
    memcpy(&word, region, 8);
    NEED(word == 43 && is_filled(region + LARGE - 4, 4, 9) && is_filled(region + 8, LARGE - 12, 9));
}

static void alone(void)
{
    static uint64_t region[LARGE / 8];
    tpslmsg_job job = start(2, 0);
    tpslmsg_port a = open_port(job, 0), b = open_port(job, 1);
    struct tpslmsg_key key;
    NEED(tpslmsg_ranks(job, NULL, NULL, &ranks) == 0 && ranks == 2);
    batches(a, b, 0, 1, 1);
    memset(region, 0, sizeof region);
    NEED(tpslmsg_register(b, region, sizeof region, &key) == 0);
    accesses(a, &key, 1);
    find(b, (unsigned char *)region);
    NEED(tpslmsg_unregister(b, &key) == 0);
    struct tpslmsg_op o = {.kind = TPSLMSG_FETCH_ADD, .key = &key, .bytes = 8};
    NEED(tpslmsg_post(a, &o, 1) == TPSLMSG_NO_REGION);
    NEED(tpslmsg_end(job) == 0);
}

static void together(void)
{
    static uint64_t region[LARGE / 8];
    tpslmsg_job job = start(1, 0);
    struct tpslmsg_key key;
    int self;
    NEED(tpslmsg_ranks(job, &self, NULL, &ranks) == 0 && ranks == 2);
    tpslmsg_port port = open_port(job, self);
    batches(port, port, self, 1 - self, 0);
    sizes(port, self, 1 - self);
    if (self == 0) {
        NEED(perform(port, (struct tpslmsg_op){.kind = TPSLMSG_RECEIVE, .peer = 1, .buffer = &key, .bytes = sizeof key}).error == 0);
        accesses(port, &key, 1);
        NEED(perform(port, (struct tpslmsg_op){.kind = TPSLMSG_RECEIVE, .peer = 1}).error == 0); /* it is unregistered */
        NEED(perform(port, (struct tpslmsg_op){.kind = TPSLMSG_FETCH_ADD, .key = &key, .bytes = 8}).error == TPSLMSG_NO_REGION);
        NEED(perform(port, (struct tpslmsg_op){.kind = TPSLMSG_SEND, .peer = 1}).error == 0);
    } else {
        NEED(tpslmsg_register(port, region, sizeof region, &key) == 0);
        NEED(perform(port, (struct tpslmsg_op){.kind = TPSLMSG_SEND, .peer = 0, .buffer = &key, .bytes = sizeof key}).error == 0);
        find(port, (unsigned char *)region);
        NEED(tpslmsg_unregister(port, &key) == 0);
        NEED(perform(port, (struct tpslmsg_op){.kind = TPSLMSG_SEND, .peer = 0}).error == 0);
        NEED(perform(port, (struct tpslmsg_op){.kind = TPSLMSG_RECEIVE, .peer = 0}).error == 0); /* the last access is answered */
    }
    NEED(tpslmsg_end(job) == 0);
    if (getenv("PMI_FD")) {
        NEED(tpslmsg_start(NULL, 60, &job) == TPSLMSG_LAUNCHER);
        NEED(strstr(tpslmsg_error(), "started its launcher's job before"));
    }
    printf("exchange: rank %d of %d: right\n", self, ranks);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        together();
        return 0;
    }
    for (int i = 0; i < 3; i++) /* a process may have one job after the other */
        alone();
    printf("exchange: %d ports: right\n", ranks);
    return 0;
}

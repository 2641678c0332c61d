/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * batches N: the ns that a message of 8 bytes of a port to itself takes, posted and reaped N at a time: that of the fastest of many
 * turns, for the others of this machine are not what is measured.
 */
#include <time.h>

#include "fixture.h"

enum { MOST = 64, MESSAGES = 6400, TURNS = 100 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    int batch = argc > 1 ? atoi(argv[1]) : 1;
    NEED(batch >= 1 && batch <= MOST);
    tpslmsg_job job = start(1, 0);
    tpslmsg_port port = open_port(job, 0);
    struct tpslmsg_op ops[2 * MOST];
    struct tpslmsg_completion ends[2 * MOST];
    uint64_t out[MOST], in[MOST];
    for (int i = 0; i < batch; i++) {
        ops[i] = (struct tpslmsg_op){.kind = TPSLMSG_RECEIVE, .buffer = &in[i], .bytes = 8};
        ops[batch + i] = (struct tpslmsg_op){.kind = TPSLMSG_SEND, .buffer = &out[i], .bytes = 8};
        out[i] = (uint64_t)i;
    }
    double best = 1e300;
    for (int turn = 0; turn < TURNS; turn++) {
        double at = now();
        for (int m = 0; m < MESSAGES; m += batch) {
            NEED(tpslmsg_post(port, ops, 2 * batch) == 2 * batch);
            NEED(tpslmsg_reap(port, ends, 2 * batch, 2 * batch, TPSLMSG_FOREVER) == 2 * batch);
        }
        at = now() - at;
        if (at < best)
            best = at;
    }
    NEED(memcmp(in, out, (size_t)batch * 8) == 0);
    printf("%.1f\n", best / MESSAGES);
    return 0;
}

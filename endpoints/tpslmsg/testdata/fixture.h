/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the programs here have in common.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tpslmsg.h>

/* Ends the program if something is not so. */
#define NEED(is)                                                                                                \
    do {                                                                                                        \
        if (!(is)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s; last error: %s\n", __FILE__, __LINE__, #is, tpslmsg_error());   \
            exit(1);                                                                                            \
        }                                                                                                       \
    } while (0)

static inline tpslmsg_job start(int ports, int shared)
{
    struct tpslmsg_options o = {.size = sizeof o, .ports = ports, .shared = shared};
    tpslmsg_job job;
    NEED(tpslmsg_start(&o, 60, &job) == TPSLMSG_OK);
    return job;
}

static inline tpslmsg_port open_port(tpslmsg_job job, int rank)
{
    tpslmsg_port port;
    NEED(tpslmsg_open(job, rank, &port) == TPSLMSG_OK);
    return port;
}

/* Posts one operation and returns its completion, which is the next of the port. */
static inline struct tpslmsg_completion perform(tpslmsg_port port, struct tpslmsg_op o)
{
    struct tpslmsg_completion c;
    o.cookie = 77;
    NEED(tpslmsg_post(port, &o, 1) == 1);
    NEED(tpslmsg_reap(port, &c, 1, 1, 60) == 1);
    NEED(c.cookie == 77 && !c.signal);
    return c;
}

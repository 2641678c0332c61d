// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* fork of a rank.
 *
 * The child of a flat program with one thread may do anything. So a rank's child must
 * find libc's locks free, and what they guard whole. fork of libc sees to malloc and
 * stdio, which the other ranks may be inside of at any time. For the rest, fork waits
 * until they are outside (gate.c of the loader).
 *
 * A rank may stay inside for long: in getaddrinfo, or in a constructor that dlopen runs.
 * Then fork goes on after PATIENCE_MS, and a child that uses the same function may hang.
 */
#include "host.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 5000 };

/* A rank that dies inside never comes out: that is what the tick is for. */
static void await_others(void)
{
    const struct timespec tick = {0, 10000000};
    long end = tpsl_milliseconds() + PATIENCE_MS;
    for (int i = 0; i < tpsl_job.nranks; i++) {
        const struct tpsl_rank *r = &tpsl_job.ranks[i];
        if (r->instance != tpsl_current)
            while (*r->pid && !tpsl_gate_await(r->instance, &tick) && tpsl_milliseconds() < end)
                ;
    }
}

pid_t tpsl_fork(fork_function *without_locks)
{
    /* A handler that interrupted malloc holds its locks: it gets what a flat program's gets. */
    if (tpsl_interrupted_libc())
        return without_locks();
    tpsl_gate_close();
    await_others();
    pid_t pid = fork();
    int error = errno;
    for (int i = 0; pid == 0 && i < tpsl_job.nranks; i++)
        tpsl_gate_count(tpsl_job.ranks[i].instance);
    tpsl_gate_open();
    errno = error;
    return pid;
}

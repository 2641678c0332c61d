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

/* The tick is for changes that wake nobody, such as the death of a rank. A rank that is ending waits
 * for this thread, so this thread does not wait for the others then. */
static void await_others(void)
{
    const struct timespec tick = {0, 10000000};
    long end = tpsl_milliseconds() + PATIENCE_MS;
    for (int i = 0; i < tpsl_host.nranks; i++) {
        const struct tpsl_rank_process *r = &tpsl_host.ranks[i];
        if (r->instance != tpsl_current)
            while (tpsl_rank_is_here(r) && !tpsl_gate_await(r->instance, &tick) && tpsl_milliseconds() < end && !tpsl_rank_ends())
                ;
    }
}

static void be_alone(void)
{
    tpsl_rank_is_alone();
    for (int i = 0; i < tpsl_host.nranks; i++)
        tpsl_gate_count(tpsl_host.ranks[i].instance);
    tpsl_turn_of_child();
}

pid_t tpsl_fork(fork_function *without_locks)
{
    /* A handler that interrupted malloc holds its locks: it gets what a flat program's gets. */
    bool waits = !tpsl_interrupted_libc() && tpsl_gate_close();
    if (waits)
        await_others();
    pid_t pid = waits ? fork() : without_locks();
    int error = errno;
    if (pid == 0)
        be_alone();
    else if (waits)
        tpsl_gate_open();
    errno = error;
    return pid;
}

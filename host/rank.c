// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The ranks of the host process, each of which is a process. */
#include "host.h"

#include <stdlib.h>
#include <unistd.h>

struct tpsl_host tpsl_host;

static void *must_have(void *memory)
{
    if (!memory)
        tpsl_die(1, "no memory for the ranks");
    return memory;
}

void tpsl_ranks_make(struct tpsl_job *job)
{
    size_t n = (size_t)job->nranks;
    tpsl_host.job = job;
    tpsl_host.pid = getpid();
    tpsl_host.ranks = must_have(calloc(n, sizeof *tpsl_host.ranks));
    tpsl_host.pids = must_have(calloc(n, sizeof *tpsl_host.pids));
    tpsl_host.ids = must_have(calloc(n, sizeof *tpsl_host.ids));
    tpsl_host.nranks = job->nranks;
    for (size_t i = 0; i < n; i++) {
        tpsl_host.ranks[i].rank = &job->ranks[i];
        tpsl_host.ranks[i].pid = &tpsl_host.pids[i];
    }
    tpsl_set_siblings(tpsl_host.ids, n);
}

struct tpsl_rank_process *tpsl_rank_of(pid_t pid)
{
    for (int i = 0; i < tpsl_host.nranks; i++)
        if (tpsl_host.pids[i] == pid)
            return &tpsl_host.ranks[i];
    return NULL;
}

/* In a child of fork, where the other ranks are not. libc takes their stacks, which hold their ids, and unmaps them there
 * when a thread ends. */
static bool alone;

void tpsl_rank_is_alone(void)
{
    alone = true;
}

bool tpsl_rank_is_here(const struct tpsl_rank_process *r)
{
    return (r->instance == tpsl_current || !alone) && *r->pid && *tpsl_host.ids[r->rank->slot];
}

bool tpsl_runs_program(pid_t pid)
{
    const struct tpsl_rank_process *r = tpsl_rank_of(pid);
    return pid == getpid() || (r && tpsl_rank_is_here(r));
}

int tpsl_slot_here(void)
{
    const struct tpsl_rank_process *r = tpsl_rank_of(getpid());
    return r ? r->rank->slot : -1;
}

int tpsl_rank_at(int slot)
{
    return slot >= 0 && slot < tpsl_host.nranks ? tpsl_host.ranks[slot].rank->number : -1;
}

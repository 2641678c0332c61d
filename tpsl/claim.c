// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Which slot a thread gets, and bringing it up. */
#include "dispatch.h"

#include <stdio.h>
#include <unistd.h>

__thread int tpsl_wanted __attribute__((tls_model("initial-exec"))) = TPSL_ANY_SLOT;

enum { ADOPT_MS = 2000 }; /* how long a thread that ends may take to be gone */

/* The rank of an endpoint. */
static struct tpsl_rank *rank_of(const struct tpsl_endpoint *ep)
{
    return &ep->job->ranks[ep->slot];
}

struct tpsl_endpoint *tpsl_adopt(void)
{
    struct tpsl_endpoints *e = tpsl_setup()->endpoints;
    struct tpsl_endpoint *ep;
    if (e->count == 1) {
        ep = &e->at[0];
        int state = atomic_load(&ep->state);
        if (state == TPSL_FREE || state == TPSL_CLAIMED)
            return NULL;
        tpsl_act_for(ep);
        return ep;
    }
    ep = tpsl_endpoint_at(e, tpsl_openmp_thread());
    int state = ep ? atomic_load(&ep->state) : TPSL_FREE;
    if (state == TPSL_FREE || state == TPSL_CLAIMED || !tpsl_endpoint_adopt(ep, ADOPT_MS))
        return NULL;
    tpsl_rank_pin_thread(ep->job, rank_of(ep));
    tpsl_act_for(ep);
    tpsl_census_thread(ep->instance, gettid() == getpid());
    return ep;
}

/* How many ranks give each thread of the team a slot, and this one. */
static int ranks_for_team(int slot)
{
    int team = tpsl_openmp_team();
    return team > slot ? team : slot + 1;
}

_Noreturn void tpsl_no_such_slot(const struct tpsl_job *job, const char *call, int slot)
{
    int n = job->nranks, thread = tpsl_openmp_thread();
    char have[48] = "the only slot is 0", help[128] = "slots count from 0";
    if (n > 1)
        snprintf(have, sizeof have, "slots are 0 to %d", n - 1);
    if (slot >= 0 && slot == thread)
        snprintf(help, sizeof help, "start it with %s%d or more, or set OMP_NUM_THREADS=%d", job->start, ranks_for_team(slot), n);
    else if (slot >= 0)
        snprintf(help, sizeof help, "slots count from 0, and a process has slot %d under %s%u or more", slot, job->start, slot + 1u);
    tpsl_die(1, "%s: %s: %s; you passed %d; %s", job->who, call, have, slot, help);
}

/* Of a thread that passed its number. */
static struct tpsl_endpoint *slot_passed(struct tpsl_job *job, const char *call, int slot)
{
    struct tpsl_endpoint *ep = tpsl_endpoint_at(job->endpoints, slot);
    if (!ep)
        tpsl_no_such_slot(job, call, slot);
    return ep;
}

/* Of an OpenMP thread that passed none: that of the thread's number. */
static struct tpsl_endpoint *slot_of_thread(struct tpsl_job *job, const char *call, int thread)
{
    int n = job->nranks;
    struct tpsl_endpoint *ep = tpsl_endpoint_at(job->endpoints, thread);
    if (!ep)
        tpsl_die(1, "%s: %s: OpenMP thread %d has no slot, as this process has %d rank%s; start it with %s%d or more, or set OMP_NUM_THREADS=%d",
                 job->who, call, thread, n, n == 1 ? "" : "s", job->start, ranks_for_team(thread), n);
    return ep;
}

static struct tpsl_endpoint *claim_slot(const char *call, struct tpsl_endpoint *ep)
{
    if (!tpsl_endpoint_claim(ep))
        tpsl_die(1, "%s: slot %d (rank %d) is claimed already; every thread needs a slot of its own", call, ep->slot, ep->rank);
    return ep;
}

static struct tpsl_endpoint *claim_any(struct tpsl_job *job, const char *call)
{
    int thread = tpsl_openmp_thread();
    if (thread >= 0)
        return claim_slot(call, slot_of_thread(job, call, thread));
    struct tpsl_endpoint *ep = tpsl_endpoint_claim_lowest(job->endpoints);
    if (!ep)
        tpsl_die(1, "%s: more threads than ranks: all %d ranks of this process are claimed; start it with a larger %s or use fewer threads",
                 call, job->nranks, job->number);
    return ep;
}

/* Opens the instances of a claimed slot's libraries on the calling thread. */
static void bring_up(struct tpsl_endpoint *ep)
{
    char *error = NULL;
    tpsl_prepare_claim(ep);
    tpsl_rank_pin_thread(ep->job, rank_of(ep));
    const struct tpsl_libraries *libraries = ep->job->libraries;
    struct tpsl_instance *in = tpsl_open(libraries->recipe, libraries->mpi, rank_of(ep)->environment, &error);
    if (!in)
        tpsl_die(1, "rank %d: load the MPI library: %s; TPSL_MPI_LIBRARY can name another one", ep->rank, error);
    ep->copies = tpsl_open_private(libraries, &error);
    if (error)
        tpsl_die(1, "rank %d: load a private library of the program: %s", ep->rank, error);
    ep->instance = in;
    tpsl_progress_prepare(ep);
    if (!tpsl_make_table(ep))
        tpsl_die(1, "rank %d: no memory for its table of functions", ep->rank);
}

struct tpsl_endpoint *tpsl_claim(const char *call)
{
    struct tpsl_job *job = tpsl_job();
    int slot = tpsl_wanted;
    struct tpsl_endpoint *ep = tpsl_self, *own = tpsl_endpoint_owned();
    if (ep && (ep == own || job->nranks == 1) && (slot == TPSL_ANY_SLOT || slot == ep->slot))
        return ep;
    if (own)
        tpsl_die(1, "%s: this thread owns slot %d (rank %d) already; a thread is one rank", call, own->slot, own->rank);
    return tpsl_claim_of(job, call, slot);
}

struct tpsl_endpoint *tpsl_claim_of(struct tpsl_job *job, const char *call, int slot)
{
    struct tpsl_endpoint *ep = slot == TPSL_ANY_SLOT ? claim_any(job, call) : claim_slot(call, slot_passed(job, call, slot));
    bring_up(ep);
    tpsl_endpoint_bind(ep);
    tpsl_act_for(ep);
    tpsl_check_abi(ep);
    tpsl_census_thread(ep->instance, gettid() == getpid());
    return ep;
}

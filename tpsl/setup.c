// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* What must be there before a thread can be a rank: the job as the launcher describes it, and
 * before the first claim what instances need. Go reads it (setup_unsafe.go).
 */
#include "dispatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "_cgo_export.h"

static struct tpsl_job *_Atomic job; /* NULL: not set up */

bool tpsl_is_set_up(void)
{
    return atomic_load(&job) != NULL;
}

bool tpsl_many(void)
{
    return tpsl_endpoints_count() > 1;
}

static void start_checks(void)
{
    const char *wanted = getenv("TPSL_CHECK");
    if (wanted && strcmp(wanted, "1") == 0 && !tpsl_check_start())
        tpsl_die(1, "TPSL_CHECK: no memory");
}

/* Tells readers outside the process where the ranks are. */
static void tell_census(void)
{
    struct tpsl_endpoint *first = tpsl_endpoint_at(0);
    struct tpsl_column rank = {(uintptr_t)&first->rank, sizeof *first};
    struct tpsl_column thread = {(uintptr_t)&first->thread, sizeof *first};
    struct tpsl_column owner = {(uintptr_t)&first->instance, sizeof *first};
    tpsl_census_ranks(tpsl_endpoints_count(), rank, thread, owner);
}

static void setup(void)
{
    char *error = NULL;
    struct tpsl_job *new = tpslSetup((char *)tpsl_folder(), &error);
    if (error)
        tpsl_die(1, "%s", error);
    for (int i = 0; i < new->nranks; i++)
        tpsl_endpoint_at(i)->job = new;
    start_checks();
    tell_census();
    atomic_store(&job, new);
}

struct tpsl_job *tpsl_setup(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct tpsl_job *known = atomic_load(&job);
    if (known)
        return known;
    pthread_once(&once, setup);
    return atomic_load(&job);
}

static pid_t process; /* whose threads are ranks; a child that the program forks is none */

static bool find_victim(struct tpsl_victim *v)
{
    const struct tpsl_endpoint *ep = tpsl_self;
    if (!ep || getpid() != process)
        return false;
    *v = (struct tpsl_victim){.rank = ep->rank, .job = ep->job};
    snprintf(v->name, sizeof v->name, "rank %d (slot %d, thread %d)", ep->rank, ep->slot, gettid());
    return true;
}

static void watch_faults(void)
{
    process = getpid();
    tpsl_stack_prepare();
    tpsl_watch_faults(find_victim, true);
}

/* Runs in the thread that called exit, and in that which returns from main. */
static void tell_leaving(void)
{
    struct tpsl_victim v;
    if (find_victim(&v))
        tpsl_tell_leave(v.job, v.rank);
}

static void watch_process(void)
{
    watch_faults();
    atexit(tell_leaving); /* where there is no memory for it, the launcher names all ranks of the process */
}

void tpsl_prepare_claim(const struct tpsl_endpoint *ep)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    char *error = tpslPrepare(ep->slot);
    if (error)
        tpsl_die(1, "rank %d: %s", ep->rank, error);
    pthread_once(&once, watch_process);
}

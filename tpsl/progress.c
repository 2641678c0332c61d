// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* TPSL_PROGRESS=neighbours: a rank that waits lets the MPI libraries of its neighbours work while they compute (docs/progress.md).
 *
 * An MPI library works only while its rank is inside a call of it. A neighbour, which is another rank of this process, can make
 * such a call for a rank, if that rank is not inside, and does not come inside until the neighbour is done. The rank and
 * its helper agree on that by two words:
 *
 *   rank, at each call:  inside = 1; if helper != 0, wait until it is 0; the call; inside = 0
 *   helper:              helper = 1 if it was 0; membarrier; if inside == 0, help; helper = 0
 *
 * The rank's store and load may be executed in the other order by its CPU, which costs nothing. The system call makes each CPU that runs a
 * thread of this process pass a barrier. If the rank's store comes after that barrier, so does its load, and it finds the helper; if the store
 * comes before, the helper finds the rank inside. TestHelpers goes through all orders.
 *
 * The entries stand in front of all functions of the MPI library (enter_linux_amd64.S), whoever calls them. The helper calls the
 * functions behind them.
 */
#include "dispatch.h"
#include "long_wait.h"
#include "pending.h"

#include <linux/membarrier.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    PATIENCE = 128, /* rounds of progress that found nothing, before a rank that waits looks after its neighbours */
    EVERY = 16,     /* rounds until it asks again whether that is due */
    AT_ONCE = 4,    /* neighbours that one barrier is for: the last of them waits while the others are helped */
    SPINS = 1000,   /* looks of a rank at whether its helper is done, before it leaves its CPU to others */
    /* A barrier takes 1 to 4 us of each rank that computes. After one that was for nothing, the process makes none for so long: twice as long each
     * time, from the first of these to the last. */
    PAUSE_NS = 100000,
    LONGEST_PAUSE_NS = 400000,
};

enum { SUCCESS = 0 };
typedef unsigned worker_progress(void *worker);

__thread struct tpsl_presence *tpsl_present __attribute__((tls_model("initial-exec")));
_Static_assert(offsetof(struct tpsl_presence, functions) == 0 && offsetof(struct tpsl_presence, inside) == 8 && offsetof(struct tpsl_presence, helper) == 12,
               "enter_linux_amd64.S");

/* A rank, for its neighbours. */
struct tpsl_progress {
    struct tpsl_presence presence;
    atomic_bool open; /* neighbours may help */
    struct tpsl_pending pending; /* by which helpers let the library work */
    bool has_pending;
    /* What was done, for the report. */
    _Atomic uint64_t gave, got, useful; /* calls for others; calls by others, and how many of them found something to do */
    uint64_t waits, longest_ns;         /* for a helper to be done */
    void *functions[TPSL_NSTUBS];
};

static _Atomic long due; /* when neighbours may be looked after again: nanoseconds */
static _Atomic long pause_ns = PAUSE_NS;

static void barrier(int command)
{
    if (syscall(SYS_membarrier, command, 0, 0) != 0)
        tpsl_die(1, "TPSL_PROGRESS=neighbours: the kernel has no membarrier (%m); unset it");
}

/* ---- the rank that is helped ---- */

static void await_helper(struct tpsl_presence *p)
{
    for (int looks = 0; atomic_load_explicit(&p->helper, memory_order_acquire) != 0; looks++)
        if (looks < SPINS)
            __builtin_ia32_pause();
        else
            sched_yield();
}

/* Called by tpsl_enter. */
__attribute__((used)) void tpsl_await_helper(struct tpsl_presence *p)
{
    long began = nanoseconds_now();
    await_helper(p);
    struct tpsl_progress *rank = (struct tpsl_progress *)p;
    uint64_t waited = (uint64_t)(nanoseconds_now() - began);
    rank->longest_ns = waited > rank->longest_ns ? waited : rank->longest_ns;
    rank->waits++;
}

/* Called by tpsl_enter for a thread that acts for no rank: where the call goes on. */
__attribute__((used)) void *tpsl_enter_unmarked(struct tpsl_presence *none, int stub)
{
    for (int i = 0; i < TPSL_NNAMES; i++)
        if (tpsl_names[i].stub == stub) {
            void *function = tpsl_wrapped(tpsl_names[i].name);
            if (function)
                return function;
        }
    tpsl_die(1, "%s was called by a thread that acts for no rank; TPSL_Adopt gives it one, or unset TPSL_PROGRESS", tpsl_names[stub].name);
}

/* ---- the rank that helps ---- */

/* Makes a call that lets the library of a rank work, which is not inside. Returns whether there was something to do. */
static bool help(struct tpsl_endpoint *ep)
{
    struct tpsl_endpoint *self = tpsl_self;
    struct tpsl_presence stand_in = {.functions = ep->progress->presence.functions, .worker_progress = ep->progress->presence.worker_progress, .stands_in = true};

    tpsl_act_for(ep);
    tpsl_present = &stand_in;
    if (!tpsl_pending_look(&ep->progress->pending))
        atomic_store(&ep->progress->open, false); /* it finds the error again in a call of its own */
    tpsl_act_for(self);
    self->progress->gave++;
    ep->progress->got++;
    ep->progress->useful += stand_in.found > 0;
    return stand_in.found > 0;
}

static void release(struct tpsl_endpoint *ep)
{
    atomic_store_explicit(&ep->progress->presence.helper, 0, memory_order_release);
}

static bool is_inside(struct tpsl_endpoint *ep)
{
    return atomic_load_explicit(&ep->progress->presence.inside, memory_order_acquire) > 0;
}

static bool is_open(struct tpsl_endpoint *ep)
{
    return atomic_load(&ep->progress->open);
}

/* Announces the calling thread as the rank's helper. */
static bool announce(struct tpsl_endpoint *ep)
{
    int none = 0;
    return ep != tpsl_self && ep->progress && is_open(ep) && !is_inside(ep) &&
           atomic_compare_exchange_strong(&ep->progress->presence.helper, &none, tpsl_self->slot + 1);
}

/* Helps some, and others the next time. */
static bool help_neighbours(void)
{
    static _Atomic unsigned int next;
    struct tpsl_endpoint *neighbours[AT_ONCE];
    struct tpsl_endpoints *e = tpsl_self->job->endpoints;
    int n = 0, ranks = e->count, first = (int)(atomic_load(&next) % (unsigned int)ranks), k = 0;
    bool found = false;

    for (; k < ranks && n < AT_ONCE; k++) {
        struct tpsl_endpoint *ep = &e->at[(first + k) % ranks];
        if (announce(ep))
            neighbours[n++] = ep;
    }
    atomic_store(&next, (unsigned int)(first + k));
    if (n > 0)
        barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    for (int i = 0; i < n; i++) {
        if (is_open(neighbours[i]) && !is_inside(neighbours[i]))
            found |= help(neighbours[i]);
        release(neighbours[i]);
    }
    return found;
}

static void look_after_neighbours(void)
{
    long now = nanoseconds_now(), when = atomic_load_explicit(&due, memory_order_relaxed);
    long wait = atomic_load_explicit(&pause_ns, memory_order_relaxed);
    if (now < when || !atomic_compare_exchange_strong(&due, &when, now + wait))
        return;
    if (help_neighbours()) {
        atomic_store(&due, 0);
        atomic_store(&pause_ns, PAUSE_NS);
    } else if (wait < LONGEST_PAUSE_NS)
        atomic_store(&pause_ns, 2 * wait);
}

unsigned tpsl_ucp_worker_progress(void *worker)
{
    struct tpsl_presence *p = tpsl_present;
    if (!p)
        return ((worker_progress *)tpsl_wrapped("ucp_worker_progress"))(worker);
    unsigned found = p->worker_progress(worker);
    p->found += found;
    if (!found && atomic_load_explicit(&tpsl_copies_offered, memory_order_relaxed))
        tpsl_copies_help();
    if (found || p->stands_in)
        p->idle = 0;
    else if (++p->idle >= PATIENCE) {
        p->idle -= EVERY;
        look_after_neighbours();
    }
    return found;
}

/* ---- functions behind the entries that are ours ---- */

void tpsl_progress_close(struct tpsl_endpoint *ep)
{
    if (!ep || !ep->progress)
        return;
    atomic_store(&ep->progress->open, false);
    await_helper(&ep->progress->presence);
}

/* What the library may call while it works has to run on the rank's own thread. So a rank that gives the library functions of the
 * program is not helped any more. All of these have at most six arguments. */
#define WORDS uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f
#define CALLBACKS(CALLBACK)                                                                                                               \
    CALLBACK(MPI_Comm_create_errhandler) CALLBACK(MPI_Comm_create_keyval) CALLBACK(MPI_Errhandler_create) CALLBACK(MPI_File_create_errhandler) \
    CALLBACK(MPI_Grequest_start) CALLBACK(MPI_Keyval_create) CALLBACK(MPI_Op_create) CALLBACK(MPI_Op_create_c)                             \
    CALLBACK(MPI_Register_datarep) CALLBACK(MPI_Register_datarep_c) CALLBACK(MPI_Session_create_errhandler) CALLBACK(MPI_Type_create_keyval) \
    CALLBACK(MPI_Win_create_errhandler) CALLBACK(MPI_Win_create_keyval) CALLBACK(MPIX_Comm_create_errhandler_x)                            \
    CALLBACK(MPIX_Grequest_class_allocate) CALLBACK(MPIX_Grequest_class_create) CALLBACK(MPIX_Grequest_start)                              \
    CALLBACK(MPIX_Op_create_x) CALLBACK(MPIX_Async_start)
#define FUNCTION(name)                                                                   \
    static int before_##name(WORDS)                                                      \
    {                                                                                    \
        tpsl_progress_close(tpsl_self);                                                  \
        int (*function)(WORDS) = tpsl_wrapped(#name); /* it was there for the entry */   \
        return function(a, b, c, d, e, f);                                               \
    }
CALLBACKS(FUNCTION)
#undef FUNCTION

static int before_MPI_Finalize(void)
{
    struct tpsl_progress *p = tpsl_self ? tpsl_self->progress : NULL;
    int (*function)(void) = tpsl_wrapped("MPI_Finalize");
    tpsl_progress_close(tpsl_self);
    if (p && p->has_pending)
        tpsl_pending_end(&p->pending);
    return function();
}

static const struct {
    const char *name;
    void *function;
} closing[] = {
#define ENTRY(name) {#name, before_##name},
    CALLBACKS(ENTRY) ENTRY(MPI_Finalize)
#undef ENTRY
};

/* ---- setting up ---- */

/* An entry passes on as many arguments as functions of MPI have. These two have any number. */
static bool takes_any_arguments(const char *name)
{
    return strcmp(name, "MPI_Pcontrol") == 0 || strcmp(name, "MPIR_Err_create_code") == 0;
}

void *tpsl_progress_entry(int name)
{
    const char *n = tpsl_names[name].name + (*tpsl_names[name].name == 'P');
    bool marked = strncmp(n, "MPI", 3) == 0 && strcmp(n, "MPIR_Dup_fn") != 0 && !takes_any_arguments(n) && !tpsl_for_any_thread(n);
    return marked ? tpsl_entered_table[tpsl_names[name].stub] : NULL;
}

/* What the entry of a name goes on to. */
static void *behind_entry(const struct tpsl_endpoint *ep, const struct tpsl_name *n)
{
    for (size_t i = 0; i < sizeof closing / sizeof *closing; i++)
        if (strcmp(n->name, closing[i].name) == 0 && tpsl_wrapped(n->name))
            return closing[i].function;
    void *front = ep->job->libraries->fronts[n->stub];
    return front ? front : tpsl_wrapped(n->name);
}

void tpsl_progress_prepare(struct tpsl_endpoint *ep)
{
    if (!ep->job->libraries->progress)
        return;
    struct tpsl_progress *p = aligned_alloc(_Alignof(struct tpsl_progress), sizeof *p);
    if (!p)
        tpsl_die(1, "rank %d: no memory for TPSL_PROGRESS=neighbours", ep->rank);
    memset(p, 0, sizeof *p);
    for (int i = 0; i < TPSL_NNAMES; i++)
        if (!p->functions[tpsl_names[i].stub])
            p->functions[tpsl_names[i].stub] = behind_entry(ep, &tpsl_names[i]);
    p->presence.functions = p->functions;
    p->presence.worker_progress = tpsl_wrapped("ucp_worker_progress");
    if (!p->presence.worker_progress || ep->job->libraries->standard)
        tpsl_die(1, "TPSL_PROGRESS=neighbours: the MPI library %s has not MPICH's ABI or does not use UCX; unset it", tpsl_instance_file(ep->instance));
    barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
    tpsl_copies_share();
    ep->progress = p;
}

void tpsl_progress_open(struct tpsl_endpoint *ep)
{
    struct tpsl_progress *p = ep->progress;
    int level = 0;
    int (*query)(int *) = tpsl_real(ep, TPSL_STUB_MPI_Query_thread);
    if (!p || ep->job->libraries->nunlisted > 0) /* there are no entries for functions that libtpsl does not know */
        return;
    if (query(&level) == SUCCESS && level != tpsl_thread_multiple(ep->job) && tpsl_pending_start(&p->pending))
        p->has_pending = true;
    atomic_store(&p->open, p->has_pending);
}

void tpsl_progress_report(const struct tpsl_job *job)
{
    const char *wanted = getenv("TPSL_PROGRESS_REPORT");
    for (int i = 0; wanted && strcmp(wanted, "1") == 0 && i < job->nranks; i++) {
        const struct tpsl_endpoint *ep = &job->endpoints->at[i];
        struct tpsl_progress *p = ep->progress;
        if (p)
            fprintf(stderr, "tpsl: rank %d: helped %lu times, was helped %lu times, %lu of them with something to do; waited %lu times for a helper, at most %.3f ms\n",
                    ep->rank, p->gave, p->got, p->useful, p->waits, (double)p->longest_ns / 1e6);
    }
}

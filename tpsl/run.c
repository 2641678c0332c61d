// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* TPSL_Run: a job of ranks that begins and ends within a call. Each rank is a thread of ours, or one of them the caller's. The
 * server of PMI, the endpoints and the instances are the job's own, and end with it.
 */
#include "dispatch.h"
#include "tpsl.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#include "_cgo_export.h"

struct run {
    struct tpsl_job *job;
    int (*function)(void *);
    void *argument;
    struct TPSL_Options options;
    pthread_barrier_t finalized; /* of all ranks, twice: no rank's library is in use any more, and no reader is led to one */
};

struct runner {
    struct run *run;
    int slot;
    int result;
    pthread_t thread;
};

/* run_linux_amd64.S: calls the function below a frame with the personality below. */
int tpsl_run_function(int (*function)(void *), void *argument);

/* A child that the function has forked must not do what the rank does after the function: the rank is in the parent. */
static void must_be_in_parent(void)
{
    tpsl_refuse_child("TPSL_Run: the end of the function", "end the child by _exit within the function, or let it exec a program");
}

/* Called by an unwinder that comes to the frame (Itanium C++ ABI, 1.3): in its search for a handler, which nobody above has for a thread
 * that ends here, or as the thread is taken down. */
__attribute__((used)) _Unwind_Reason_Code tpsl_run_personality(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                                                               struct _Unwind_Exception *exception, struct _Unwind_Context *context)
{
    must_be_in_parent();
    if (actions & _UA_FORCE_UNWIND)
        tpsl_die(1, "TPSL_Run: the function ended the thread of rank %d, as pthread_exit does: let it return", tpsl_self->rank);
    tpsl_die(1, "TPSL_Run: the function of rank %d threw an exception that it did not catch: catch it there, and return a result", tpsl_self->rank);
}

static void must_succeed(int rc, const struct tpsl_endpoint *ep, const char *call)
{
    if (rc != 0)
        tpsl_die(1, "TPSL_Run: rank %d: %s fails with error %d of the MPI library", ep->rank, call, rc);
}

/* The program's own functions, so that a tool in front of ours sees the calls. */
static void initialize(const struct tpsl_endpoint *ep, int level)
{
    int (*init)(int *, char ***, int, int *) = tpsl_process_symbol("MPI_Init_thread", NULL);
    int provided;
    must_succeed((init ? init : tpsl_MPI_Init_thread)(NULL, NULL, level, &provided), ep, "MPI_Init_thread");
}

static void finalize(const struct tpsl_endpoint *ep)
{
    int (*end)(void) = tpsl_process_symbol("MPI_Finalize", NULL);
    if (atomic_load(&ep->phase) == TPSL_INITIALIZED)
        must_succeed((end ? end : tpsl_MPI_Finalize)(), ep, "MPI_Finalize");
}

/* Functions that the rank's libraries call as they end may call MPI, so the thread acts for the rank until they have. */
static void close_rank(struct tpsl_endpoint *ep)
{
    tpsl_instance_close(ep->instance);
    tpsl_act_for(NULL);
    tpsl_endpoint_leave(ep);
    free(ep->table);
    free(ep->copies);
}

/* Preconditions: a claim has found the MPI library, and with it the ABI. */
static void check_level(const struct run *run)
{
    int level = run->options.thread_level;
    if (!tpsl_is_thread_level(run->job, level))
        tpsl_die(1, "TPSL_Run: options.thread_level is %d: want MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE", level);
}

static void *be_rank(void *argument)
{
    struct runner *r = argument;
    struct run *run = r->run;
    tpsl_rank_pin(&run->job->ranks[r->slot]); /* wherever the program has let its threads run */
    struct tpsl_endpoint *ep = tpsl_claim_of(run->job, "TPSL_Run", r->slot);
    check_level(run);
    initialize(ep, run->options.thread_level);
    r->result = tpsl_run_function(run->function, run->argument);
    must_be_in_parent();
    tpsl_act_for(ep); /* the function may have switched */
    finalize(ep);
    if (pthread_barrier_wait(&run->finalized) == PTHREAD_BARRIER_SERIAL_THREAD)
        tpsl_census_remove(&run->job->census);
    pthread_barrier_wait(&run->finalized);
    close_rank(ep);
    tpsl_was_rank = true;
    return NULL;
}

enum { least_stack = 256 << 10 }; /* bytes: MPI libraries have large frames */

static void start(struct runner *r)
{
    pthread_attr_t attributes;
    size_t asked = r->run->options.stack, stack;
    pthread_attr_init(&attributes);
    pthread_attr_getstacksize(&attributes, &stack); /* the limit of stacks may have made it small */
    if (asked)
        stack = asked;
    int error = pthread_attr_setstacksize(&attributes, stack > least_stack ? stack : least_stack);
    if (!error)
        error = pthread_create(&r->thread, &attributes, be_rank, r);
    if (error && asked)
        tpsl_die(1, "TPSL_Run: make the thread of rank %d of %d with a stack of %zu bytes: %s; use a smaller options.stack", r->slot, r->run->job->nranks, asked, strerror(error));
    if (error)
        tpsl_die(1, "TPSL_Run: make the thread of rank %d of %d: %s; use fewer ranks", r->slot, r->run->job->nranks, strerror(error));
    pthread_attr_destroy(&attributes);
}

/* The caller's thread goes on where it was: on its own CPUs. */
static void be_rank_meanwhile(struct runner *r)
{
    cpu_set_t before;
    bool known = sched_getaffinity(0, sizeof before, &before) == 0;
    be_rank(r);
    tpsl_was_rank = false;
    if (known)
        sched_setaffinity(0, sizeof before, &before);
}

static int farther(int a, int b)
{
    unsigned int of_a = a < 0 ? 0u - (unsigned int)a : (unsigned int)a, of_b = b < 0 ? 0u - (unsigned int)b : (unsigned int)b;
    return of_b > of_a || (of_b == of_a && b < a) ? b : a;
}

static int run_ranks(struct run *run)
{
    int n = run->job->nranks, first = run->options.caller ? 1 : 0, worst = 0;
    struct runner *runners = calloc((size_t)n, sizeof *runners);
    if (!runners || pthread_barrier_init(&run->finalized, NULL, (unsigned int)n) != 0)
        tpsl_die(1, "TPSL_Run: no memory for %d ranks", n);
    for (int i = 0; i < n; i++)
        runners[i] = (struct runner){.run = run, .slot = i};
    for (int i = first; i < n; i++)
        start(&runners[i]);
    if (first)
        be_rank_meanwhile(&runners[0]);
    for (int i = first; i < n; i++)
        pthread_join(runners[i].thread, NULL);
    for (int i = 0; i < n; i++)
        worst = farther(worst, runners[i].result);
    pthread_barrier_destroy(&run->finalized);
    free(runners);
    return worst;
}

/* Until the last member that the first version had. */
enum { least_options = offsetof(struct TPSL_Options, cpus) + sizeof(const char *) };

/* Options of an older program are shorter. */
static struct TPSL_Options read_options(const struct TPSL_Options *given)
{
    struct TPSL_Options o = {0};
    if (!given)
        return o;
    if (given->size < least_options || given->size > sizeof o)
        tpsl_die(1, "TPSL_Run: options.size is %zu: set it to sizeof(struct TPSL_Options), which this libtpsl knows as %zu", given->size, sizeof o);
    memcpy(&o, given, given->size);
    return o;
}

int TPSL_Run(int nranks, int (*function)(void *), void *argument, const struct TPSL_Options *options)
{
    static _Atomic uint64_t calls;
    char *error = NULL;
    tpsl_refuse_child("TPSL_Run", NULL);
    if (tpsl_self)
        tpsl_die(1, "TPSL_Run: the calling thread is rank %d (slot %d) already: call it from a thread that is no rank", tpsl_self->rank, tpsl_self->slot);
    if (nranks < 1)
        tpsl_die(1, "TPSL_Run: %d ranks: want 1 or more", nranks);
    if (!function)
        tpsl_die(1, "TPSL_Run: there is no function to run");
    struct run run = {.function = function, .argument = argument, .options = read_options(options)};
    if (run.options.caller != 0 && run.options.caller != 1)
        tpsl_die(1, "TPSL_Run: options.caller is %d: want 0 or 1", run.options.caller);
    run.job = tpslJobNew((char *)tpsl_folder(), nranks, (char *)run.options.cpus, &error);
    if (!run.job)
        tpsl_die(1, "%s", error);
    tpsl_job_begin(run.job, atomic_fetch_add(&calls, 1) + 1);
    int worst = run_ranks(&run);
    tpsl_progress_report(run.job);
    for (int i = 0; i < nranks; i++)
        free(run.job->endpoints->at[i].progress);
    tpslJobEnd(run.job);
    return worst;
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* What must be there before a thread can be a rank: the process's own job, and before the first claim what instances
 * need. Go finds it out (setup_unsafe.go).
 */
#include "dispatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "_cgo_export.h"

static struct tpsl_job *_Atomic job; /* NULL: not set up */

struct tpsl_job *tpsl_is_set_up(void)
{
    return atomic_load(&job);
}

struct tpsl_job *tpsl_job(void)
{
    return tpsl_self ? tpsl_self->job : tpsl_setup();
}

struct tpsl_libraries *tpsl_libraries_new(void)
{
    static struct tpsl_libraries *_Atomic newest; /* Go refers to them, which tools that look for leaks do not read */
    struct tpsl_libraries *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->older = atomic_load(&newest);
    while (!atomic_compare_exchange_weak(&newest, &l->older, l))
        ;
    return l;
}

static void start_checks(void)
{
    const char *wanted = getenv("TPSL_CHECK");
    if (wanted && strcmp(wanted, "1") == 0)
        tpsl_check_start();
}

/* Tells readers outside the process where the ranks are. */
static void tell_census(struct tpsl_job *new, uint64_t number)
{
    const struct tpsl_endpoint *first = &new->endpoints->at[0];
    struct tpsl_column rank = {(uintptr_t)&first->rank, sizeof *first};
    struct tpsl_column thread = {(uintptr_t)&first->thread, sizeof *first};
    struct tpsl_column owner = {(uintptr_t)&first->instance, sizeof *first};
    new->census = (struct tpsl_census_job){.number = number, .ranks = (uint64_t)new->nranks, .rank = rank, .thread = thread, .owner = owner};
    tpsl_census_add(&new->census);
}

void tpsl_job_begin(struct tpsl_job *new, uint64_t number)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    for (int i = 0; i < new->nranks; i++)
        new->endpoints->at[i].job = new;
    pthread_once(&once, start_checks);
    tell_census(new, number);
}

static pid_t home; /* the process whose threads Go's runtime has: noted before any constructor may call MPI */

__attribute__((constructor(101))) static void note_home(void) { home = getpid(); }

/* A child that was forked would wait for threads that it does not have, and would close what its parent's ranks use. Its end is
 * no end of its parent's job. */
void tpsl_refuse_child(const char *call, const char *advice)
{
    if (getpid() == home)
        return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL); /* fprintf may be a point of cancellation */
    fprintf(stderr, "tpsl: %s: this process is a child made by fork, and the threads of libtpsl are in its parent: %s\n", call, advice ? advice : "let it exec a program, or make the call in the parent");
    _exit(1);
}

static void setup(void)
{
    char *error = NULL;
    tpsl_refuse_child("the first call of MPI", NULL);
    struct tpsl_job *new = tpslSetup((char *)tpsl_folder(), tpsl_openmp_team(), &error);
    if (error)
        tpsl_die(1, "%s", error);
    tpsl_job_begin(new, 0);
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

static bool is_in_library(uintptr_t pc, bool exact, void *found)
{
    *(bool *)found = tpsl_owner_of((void *)pc) == TPSL_OF_INSTANCE;
    return !*(bool *)found;
}

/* Where there is no launcher to say so. An MPI library that ends the process has said why. */
static void say_leaving(const struct tpsl_endpoint *ep)
{
    bool by_library = false;
    if (!ep->job->own || ep->job->nranks == 1 || atomic_load(&ep->phase) != TPSL_INITIALIZED)
        return;
    tpsl_stack_walk(is_in_library, &by_library);
    if (!by_library)
        fprintf(stderr, "tpsl: rank %d ends the process before its MPI_Finalize, by exit or by the return from main: all %d ranks of the job end\n", ep->rank,
                ep->job->nranks);
}

/* Runs in the thread that called exit, and in that which returns from main. */
static void tell_leaving(void)
{
    struct tpsl_victim v;
    if (!find_victim(&v))
        return;
    tpsl_tell_leave(v.job, v.rank);
    say_leaving(tpsl_self);
}

static void watch_process(void)
{
    watch_faults();
    atexit(tell_leaving); /* where there is no memory for it, the launcher names all ranks of the process */
}

void tpsl_prepare_claim(const struct tpsl_endpoint *ep)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    char *error = tpslPrepare(ep->job, ep->slot);
    if (error)
        tpsl_die(1, "rank %d: %s", ep->rank, error);
    pthread_once(&once, watch_process);
}

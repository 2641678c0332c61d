// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* What comes in front of a rank's MPI_Init. A program that was written for thread ranks and linked with an MPI library
 * runs in private mode, where each of its threads calls MPI_Init of the same rank. The MPI library does not look for
 * that, and an assertion of some library below it fails. So the second thread ends the job with a line that says what
 * to do.
 *
 * The launcher is told when a rank has initialised MPI. If the rank has not connected to the launcher, it has taken
 * itself for a job of one rank, and the launcher ends the job.
 *
 * A tool is in front of these functions as it is in front of the MPI library's. A second call by the same thread is
 * the MPI library's business.
 */
#include "host.h"

#include <errno.h>
#include <unistd.h>

/* Whether the calling thread has not called before, and another one has. */
static bool is_second_thread(struct tpsl_rank_process *r)
{
    static __thread bool has_called __attribute__((tls_model("initial-exec")));
    bool again = has_called;
    has_called = true;
    return !again && atomic_exchange(&r->initialized, true);
}

/* The host has the pipe to the launcher. A rank has closed it. */
static void tell_initialized(void *rank)
{
    tpsl_tell_initialized(tpsl_host.job, ((const struct tpsl_rank *)rank)->number);
}

struct abort {
    const struct tpsl_rank *rank;
    int code;
};

static void tell_abort(void *abort)
{
    const struct abort *a = abort;
    tpsl_tell_abort(tpsl_host.job, a->rank->number, a->code);
}

static void abort_job(const struct tpsl_rank *r, int code)
{
    tpsl_in_host(tell_abort, &(struct abort){r, code});
}

/* All ranks run the same program, so the first one speaks for all. The end of the job ends the others. */
static _Noreturn void refuse(const struct tpsl_rank_process *r, const char *call)
{
    enum { PATIENCE_S = 2 };
    static atomic_bool told;
    void (*flush)(void) = tpsl_instance_symbol(r->instance, "tpsl_streams_flush", NULL);
    if (flush)
        flush();
    tpsl_rank_rest();
    if (atomic_exchange(&told, true)) {
        sleep(PATIENCE_S);
        _exit(1);
    }
    tpsl_die_as(r->rank, 1, abort_job, "a second thread called %s, but %s is not linked with libtpsl, so each rank runs a copy of the program; relink it with tpslcc or use -tpsl shared",
                call, program_invocation_name);
}

/* A child of a rank is no rank. */
static void begin(const char *call)
{
    struct tpsl_rank_process *r = tpsl_rank_of(getpid());
    if (r && is_second_thread(r))
        refuse(r, call);
}

static int end(int error)
{
    struct tpsl_rank_process *r = tpsl_rank_of(getpid());
    if (r && error == 0)
        tpsl_in_host(tell_initialized, (void *)r->rank);
    return error;
}

static int init(const char *name, int *argc, char ***argv)
{
    int (*function)(int *, char ***) = tpsl_wrapped(name);
    begin("MPI_Init");
    return end(function(argc, argv));
}

static int init_thread(const char *name, int *argc, char ***argv, int required, int *provided)
{
    int (*function)(int *, char ***, int, int *) = tpsl_wrapped(name);
    begin("MPI_Init_thread");
    return end(function(argc, argv, required, provided));
}

int tpsl_rank_MPI_Init(int *argc, char ***argv)
{
    return init("MPI_Init", argc, argv);
}

int tpsl_rank_PMPI_Init(int *argc, char ***argv)
{
    return init("PMPI_Init", argc, argv);
}

int tpsl_rank_MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return init_thread("MPI_Init_thread", argc, argv, required, provided);
}

int tpsl_rank_PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return init_thread("PMPI_Init_thread", argc, argv, required, provided);
}

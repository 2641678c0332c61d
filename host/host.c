// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The host process: makes the instances and starts a process for each. The reaper ends it. */
#include "host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "_cgo_export.h"

static void make_instance(const char *program, struct tpsl_rank_process *r, int argc, char **argv)
{
    char *error = NULL;
    r->argc = argc;
    r->argv = calloc((size_t)argc + 1, sizeof *r->argv);
    for (int i = 0; i < argc; i++)
        if (!r->argv || !(r->argv[i] = strdup(argv[i]))) /* programs write to theirs */
            tpsl_die(1, "rank %d: no memory for its arguments", r->rank->number);
    r->instance = tpsl_make(program, NULL, &r->objects, &r->nobjects, &error);
    if (!r->instance)
        tpsl_die(1, "rank %d: load %s: %s", r->rank->number, program, error);
}

/* Makes each instance on the CPUs of its rank, because the kernel takes a page from the NUMA node of
 * the CPU that touches it first. */
static void make_instances(const char *program, int argc, char **argv)
{
    cpu_set_t all;
    bool known = sched_getaffinity(0, sizeof all, &all) == 0;
    for (int i = 0; i < tpsl_host.nranks; i++) {
        tpsl_rank_pin(tpsl_host.ranks[i].rank);
        make_instance(program, &tpsl_host.ranks[i], argc, argv);
    }
    if (known)
        sched_setaffinity(0, sizeof all, &all);
}

static char *program; /* its file, without links */

const char *tpsl_program(void)
{
    return program;
}

/* libc's messages name the program. */
static void take_name(char *name)
{
    char *slash = strrchr(name, '/');
    program_invocation_name = name;
    program_invocation_short_name = slash ? slash + 1 : name;
}

/* Tells readers outside the process where the ranks are. */
static void tell_census(void)
{
    const struct tpsl_rank *rank = tpsl_host.job->ranks;
    const struct tpsl_rank_process *of = tpsl_host.ranks;
    struct tpsl_column number = {(uintptr_t)&rank->number, sizeof *rank};
    struct tpsl_column thread = {(uintptr_t)tpsl_host.pids, sizeof *tpsl_host.pids};
    struct tpsl_column owner = {(uintptr_t)&of->instance, sizeof *of};
    tpsl_host.job->census = (struct tpsl_census_job){.ranks = (uint64_t)tpsl_host.nranks, .rank = number, .thread = thread, .owner = owner};
    tpsl_census_add(&tpsl_host.job->census);
}

/* Ranks start side by side, as flat ones do: their constructors may wait for each other. */
static void start_ranks(void)
{
    for (int i = 0; i < tpsl_host.nranks && !tpsl_reaper_ends_all(); i++) {
        struct tpsl_rank_process *r = &tpsl_host.ranks[i];
        if (!tpsl_rank_start(r))
            tpsl_die(1, "rank %d: start its process: %s", r->rank->number, strerror(errno));
        tpsl_reaper_add();
        tpsl_forward_to(r);
    }
}

/* argv: the host, the program's file, the program's arguments from the 0th on. The block
 * of thread-locals that ends at the thread pointer is lent to the programs. */
int tpsl_host_main(int argc, char **argv, void *static_tls, size_t size)
{
    tpsl_static_tls_lend(static_tls, size);
    if (argc < 3)
        tpsl_die(1, "%s is started by mpiexec", argv[0]);
    char *error = NULL;
    struct tpsl_job *job = tpslHostBegin(&error);
    if (error)
        tpsl_die(1, "%s", error);
    tpsl_ranks_make(job);
    if (!tpsl_service_start())
        tpsl_die(1, "no thread for the loader");
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL); /* ignored, it would take the ranks' statuses along */
    take_name(argv[2]);
    program = realpath(argv[1], NULL);
    if (!program)
        tpsl_die(1, "%s: %s", argv[1], strerror(errno));
    tpsl_zone_start();
    tpsl_stack_prepare();
    tpsl_rest_prepare();
    tpsl_gate_use();
    tpsl_threads_start();
    tpsl_catch_libc_exit();
    setvbuf(stdout, NULL, _IONBF, 0); /* libc's own stream: what argp_parse writes there for a rank, nobody would flush */
    tpsl_forward_signals();
    tell_census();
    make_instances(argv[1], argc - 2, argv + 2);
    tpsl_reaper_start();
    start_ranks();
    tpslHostRuns();
    for (int i = 0; i < job->nranks; i++)
        close(job->ranks[i].pmi.fd); /* the launcher hears of a rank's end by its session */
    tpsl_close_streams();
    for (;;)
        pause(); /* the reaper ends the process */
}

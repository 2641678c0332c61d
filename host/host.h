/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The C half of package host: processes that share the address space.
 */
#ifndef TPSL_HOST_H
#define TPSL_HOST_H

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <time.h>

#include "loader.h"
#include "process.h"

/* The process of a rank. Written by the host process before the rank is started. */
struct tpsl_rank_process {
    const struct tpsl_rank *rank;
    int argc;
    char **argv;
    struct tpsl_instance *instance;
    struct tpsl_object **objects; /* to be started */
    size_t nobjects;

    _Atomic pid_t *pid; /* 0: it does not run */
    _Atomic uint64_t to_pass_on; /* signals that the host got for it, a bit for each */
    atomic_bool initialized;     /* a thread of it has called MPI_Init */

    /* Written by its own threads (rank_rest.c). */
    _Atomic pid_t ender;         /* the thread that ends it; 0: none. A futex of those that rest */
    atomic_int resting;          /* how many rest; a futex of the ender */
    atomic_bool unclean;         /* it ends with a lock of libc's, or may */
};

/* The host process and what it has of its ranks, by slot. */
struct tpsl_host {
    struct tpsl_job *job;
    struct tpsl_rank_process *ranks;
    int nranks;
    _Atomic pid_t *pids; /* of the ranks */
    int *volatile *ids;  /* in memory of the kernel's: 0 when it shares the address space no more */
    pid_t pid;
};
extern struct tpsl_host tpsl_host;

/* Of a clock that only goes forward. */
static inline long tpsl_milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- rank.c ---- */
/* Makes what the host has of the ranks of its job. They do not run yet. */
void tpsl_ranks_make(struct tpsl_job *);
/* The rank that a process is; NULL: none, as the host or a child of a rank. Safe in a signal handler. */
struct tpsl_rank_process *tpsl_rank_of(pid_t);
/* Whether the rank has threads here. It has none when it has died or has executed another program, and in a child of
 * another rank. As safe. */
bool tpsl_rank_is_here(const struct tpsl_rank_process *);
void tpsl_rank_is_alone(void); /* from now on: in a child of fork */
/* Whether a process has the program's file as its own: the calling one, and a rank that has executed no other one. As safe. */
bool tpsl_runs_program(pid_t);
/* The slot that the calling process is; -1: it is no rank, as a child of one. For libtpslarrays, as the next. */
int tpsl_slot_here(void);
int tpsl_rank_at(int slot); /* -1: there is no such slot */

/* ---- rank_clone.c ---- */
/* Starts the process of a rank; false: errno tells. */
bool tpsl_rank_start(struct tpsl_rank_process *);

/* ---- rank_start.c: what a rank's process does before its program runs ---- */
_Noreturn void tpsl_rank_run(struct tpsl_rank_process *);
rlim_t tpsl_files_of_ranks(void); /* how many a rank may have open */
/* Closes the descriptors that were given for ranks' output. */
void tpsl_close_streams(void);

/* ---- rank_exit.c ---- */
/* Ends the instance of the calling rank: for the shim's exit. */
void tpsl_rank_finish(void);
/* From now on an exit by libc itself is the shim's exit of the calling rank. */
void tpsl_catch_libc_exit(void);

/* ---- rank_init.c: in front of the MPI library's functions of these names ---- */
int tpsl_rank_MPI_Init(int *argc, char ***argv);
int tpsl_rank_PMPI_Init(int *argc, char ***argv);
int tpsl_rank_MPI_Init_thread(int *argc, char ***argv, int required, int *provided);
int tpsl_rank_PMPI_Init_thread(int *argc, char ***argv, int required, int *provided);

/* ---- rank_rest.c: before a rank ends, its other threads rest outside libc; safe in signal handlers ---- */
void tpsl_rest_prepare(void);
void tpsl_rank_rest(void);  /* nothing in a child of a rank */
void tpsl_rank_go_on(void); /* it does not end: exec failed */
bool tpsl_rank_ends(void);  /* one of its threads waits for the others to rest */
int tpsl_threads(void);        /* how many the calling process has; 0: unknown */
int tpsl_kernel_threads(void); /* those of them that belong to the kernel, as io_uring(7) has some */
/* Whether a handler that the calling thread is in interrupted code that all ranks share, and not only a sleep there. */
bool tpsl_interrupted_libc(void);

/* ---- rank_fork.c ---- */
typedef pid_t fork_function(void);
/* fork for a rank, whose child finds libc's locks free. From a handler that interrupted
 * libc it is `without_locks`: libc's _Fork. */
pid_t tpsl_fork(fork_function *without_locks);

/* ---- rank_threads.c ---- */
void tpsl_threads_start(void);
bool tpsl_stack_executable(void); /* makes the calling thread's stack so; false: errno tells */
/* Calls it when the calling thread ends, once. For the shim. */
void tpsl_at_thread_end(void (*call)(void));
size_t tpsl_stack_taken(void); /* bytes that the lent block takes of each stack, in whole pages */

/* ---- turn.c ---- */
/* In the child of a fork, before anything else. */
void tpsl_turn_of_child(void);
enum tpsl_turn { TPSL_TURN_DESCRIPTORS, TPSL_TURN_ENVIRONMENT, TPSL_TURNS };
/* Calls it while no other thread is in its turn of that kind; the call must not come back here for the same kind. */
void tpsl_in_turn_of(enum tpsl_turn, tpsl_step *call, void *argument);
/* The same, with the descriptors that libc keeps open. For the shim. */
void tpsl_in_turn(tpsl_step *call, void *argument);

/* ---- zone.c ---- */
void tpsl_zone_start(void);
/* Calls it with libc's time zone as TZ says; NULL: the system's. For the shim. */
void tpsl_in_zone(const char *zone, tpsl_step *call, void *argument);
/* Calls it with an environment in the place of libc's. For the shim; the call must not come back here. */
void tpsl_in_environment(char **of_rank, tpsl_step *call, void *argument);

/* ---- service.c: the host process runs steps for ranks ---- */
bool tpsl_service_start(void);
/* Calls it in the host process, and waits for its end. */
void tpsl_in_host(tpsl_step *, void *argument);

/* ---- forward.c: signals that are sent to the host are meant for its ranks ---- */
void tpsl_forward_signals(void); /* from now on */
/* Sends a rank that has been started what came before. */
void tpsl_forward_to(struct tpsl_rank_process *);
bool tpsl_was_forwarded(int signal);

/* ---- reaper.c: the ends of ranks ---- */
void tpsl_reaper_start(void);
/* A rank was started. */
void tpsl_reaper_add(void);
bool tpsl_reaper_ends_all(void); /* no more ranks are to be started */

/* ---- host.c ---- */
int tpsl_host_main(int argc, char **argv, void *static_tls, size_t size);
const char *tpsl_program(void); /* its file, without links: for the shim */

#endif

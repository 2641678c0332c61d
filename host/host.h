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

#include "loader.h"

/* One rank. Written by the host process before the rank is started. */
struct tpsl_rank {
    int slot, rank;
    int stdin_fd, stdout_fd, stderr_fd; /* what become its 0, 1 and 2; stdin -1: /dev/null */
    const char *cpus; /* CPU list; NULL: not pinned */
    char **envp;
    int argc;
    char **argv;
    struct tpsl_instance *instance;
    struct tpsl_object **objects; /* to be started */
    size_t nobjects;

    _Atomic pid_t *pid; /* 0: it does not run */
    _Atomic uint64_t to_pass_on; /* signals that the host got for it, a bit for each */

    /* Written by its own threads (rest.c). */
    _Atomic pid_t ender;         /* the thread that ends it; 0: none */
    atomic_int resting, turn;    /* threads that rest until the turn changes; both are futexes */
    atomic_bool unclean;         /* it ends with a lock of libc's, or may */
};

/* What all ranks of the process have in common. */
struct tpsl_job {
    struct tpsl_rank *ranks;
    _Atomic pid_t *pids; /* of the ranks */
    int *volatile *ids;  /* in memory of the kernel's: 0 when it shares the address space no more */
    int nranks;
    pid_t host;
    const int *pmi; /* descriptors by slot; NULL: none */
    int control;    /* descriptor for lines to the launcher; -1: none */
    bool told;      /* the launcher has heard of all that ended */
};
extern struct tpsl_job tpsl_job;

/* ---- process.c ---- */
/* Starts the process of a rank; false: errno tells. */
bool tpsl_rank_start(struct tpsl_rank *);
long tpsl_milliseconds(void); /* of a clock that only goes forward */

/* ---- setup.c: what a rank's process does before its program runs ---- */
void tpsl_rank_pin(const struct tpsl_rank *); /* the calling thread, to the CPUs of the rank */
_Noreturn void tpsl_rank_run(struct tpsl_rank *);
rlim_t tpsl_files_of_ranks(void); /* how many a rank may have open */
/* Closes the descriptors that were given for ranks' output. */
void tpsl_close_streams(void);
/* Ends the instance of the calling rank: for the shim's exit. */
void tpsl_rank_finish(void);

/* ---- rest.c: before a rank ends, its other threads rest outside libc; safe in signal handlers ---- */
void tpsl_rest_prepare(void);
void tpsl_rank_rest(void);  /* nothing in a child of a rank */
void tpsl_rank_go_on(void); /* it does not end: exec failed */
bool tpsl_rank_ends(void);  /* one of its threads waits for the others to rest */
/* Whether a handler that the calling thread is in interrupted code that all ranks share, and not only a sleep there. */
bool tpsl_interrupted_libc(void);

/* ---- fork.c ---- */
typedef pid_t fork_function(void);
/* fork for a rank, whose child finds libc's locks free. From a handler that interrupted
 * libc it is `without_locks`: libc's _Fork. */
pid_t tpsl_fork(fork_function *without_locks);

/* ---- fault.c ---- */
void tpsl_rank_watch_faults(void);

/* ---- threads.c ---- */
void tpsl_threads_start(void);
bool tpsl_stack_executable(void); /* makes the calling thread's stack so; false: errno tells */
/* Calls it when the calling thread ends, once. For the shim. */
void tpsl_at_thread_end(void (*call)(void));
size_t tpsl_stack_taken(void); /* bytes that the lent block takes of each stack, in whole pages */

/* ---- zone.c ---- */
void tpsl_zone_start(void);
/* Calls it with libc's time zone as TZ says; NULL: the system's. For the shim. */
void tpsl_in_zone(const char *zone, tpsl_step *call, void *argument);
/* Calls it with an environment in the place of libc's. For the shim; the call must not come back here. */
void tpsl_in_environment(char **of_rank, tpsl_step *call, void *argument);

/* ---- service.c: the host process runs steps for ranks ---- */
bool tpsl_service_start(void);

/* ---- host.c ---- */
int tpsl_host_main(int argc, char **argv, void *static_tls, size_t size);
const char *tpsl_program(void); /* its file, without links: for the shim */
_Noreturn void tpsl_host_die(const char *format, ...);

#endif

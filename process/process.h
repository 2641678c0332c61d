/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The C half of package process: what shared mode (tpsl) and private mode (host) have in
 * common.
 */
#ifndef TPSL_PROCESS_H
#define TPSL_PROCESS_H

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "census.h"

/* ---- wire.c ---- */
/* A descriptor that the launcher passed. Its number may be another file's by the time it
 * is needed, when the MPI library has closed it. */
struct tpsl_wire {
    int fd; /* -1: none */
    dev_t device;
    ino_t inode;
};
void tpsl_wire_open(struct tpsl_wire *, int fd);
bool tpsl_wire_is_open(const struct tpsl_wire *); /* safe in a signal handler */

/* ---- job.c ---- */
/* A rank as the launcher describes it. */
struct tpsl_rank {
    int slot;             /* its index in the job's ranks */
    int number;           /* in the world */
    const char *cpus;     /* list of the CPUs that are its own, as "0-1,4"; NULL: it is not pinned */
    char **environment;   /* NULL-terminated, from malloc. Shared mode: settings of its own, made at its claim; private mode: all */
    struct tpsl_wire pmi; /* its session of PMI */
    int stdin_fd, stdout_fd, stderr_fd; /* what become its 0, 1 and 2 in private mode; stdin_fd -1: /dev/null */
    atomic_bool pinned;      /* a thread was pinned to its CPUs; threads that this one made have the same mask */
    atomic_bool initialized; /* shared mode: it has initialised MPI */
};

struct tpsl_libraries; /* of tpsl */
struct tpsl_endpoints; /* of endpoints */

/* The ranks of one job that are in this process. Go fills it once (job_unsafe.go). That of a launcher is never freed. */
struct tpsl_job {
    struct tpsl_job *next;  /* of those that tpsl_job_add was told */
    struct tpsl_rank *ranks;
    int nranks;
    /* For messages: */
    const char *who;    /* its ranks: "rank 3", or "ranks 0-1 (one process)" */
    const char *number; /* what says how many there are: "-rpp" */
    const char *start;  /* how to start more of them, in front of a number: "mpiexec -rpp " */
    struct tpsl_wire control; /* for lines to the launcher */
    bool aborts; /* an error of the runtime asks the launcher to abort the job; else its exit status tells the launcher */
    bool own;    /* no launcher has made it, but this process itself */
    bool verify; /* TPSL_VERIFY=1 */
    /* Of shared mode; NULL in private mode: */
    struct tpsl_endpoints *endpoints; /* by slot */
    struct tpsl_libraries *libraries; /* what the ranks' instances are made of */
    atomic_int uninitialized;         /* ranks that have not initialised MPI yet, in shared mode */
    struct tpsl_census_job census;    /* for readers outside the process */
};
void tpsl_job_add(struct tpsl_job *); /* to those whose launcher an error of the runtime is told; it is not freed then */
struct tpsl_job *tpsl_first_job(void);

/* ---- control.c: lines to the launcher; safe in signal handlers ---- */
/* False: there is no launcher, or it does not listen. */
bool tpsl_tell_start(const struct tpsl_job *, int rank, pid_t);
bool tpsl_tell_initialized(const struct tpsl_job *, int rank); /* it has initialised MPI, with or without a word to the launcher */
bool tpsl_tell_exit(const struct tpsl_job *, int rank, pid_t, int status); /* as of waitpid */
bool tpsl_tell_fault(const struct tpsl_job *, int rank, int signal);
bool tpsl_tell_abort(const struct tpsl_job *, int rank, int code); /* the job is to end with this code */
bool tpsl_tell_leave(const struct tpsl_job *, int rank); /* its thread has called exit, which ends the others */

/* ---- die.c ---- */
/* One line on stderr, then the end of the process with exit status `code`, and of the jobs that it is part of. */
_Noreturn void tpsl_die(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for an error of one rank, whose process this is: the line names the rank, and only its job ends. `abort` asks the
 * launcher to end the job where the rank has no PMI session. Preconditions: its other threads use the PMI session no more. */
typedef void tpsl_abort(const struct tpsl_rank *, int code);
_Noreturn void tpsl_die_as(const struct tpsl_rank *, int code, tpsl_abort *abort, const char *format, ...) __attribute__((format(printf, 4, 5)));
_Noreturn void tpsl_exit(int code); /* without a line, and without a word to a launcher */
_Noreturn void tpsl_die_with(int code, const char *message); /* for Go, which cannot call variadic functions */

/* ---- cpus.c ---- */
bool tpsl_parse_cpus(const char *list, cpu_set_t *); /* false: it names none */
bool tpsl_was_allowed(int cpu); /* when the program started, as far as that is known */
/* Pins the calling thread to the CPUs of a rank, if it has any. */
void tpsl_rank_pin(const struct tpsl_rank *);
/* The same for a thread of the program that has become the rank's, unless the program chose its CPUs. */
void tpsl_rank_pin_thread(const struct tpsl_job *, struct tpsl_rank *);

/* ---- signal_stack.c ---- */
/* Gives the calling thread a stack for signal handlers, so that an overflow of its own
 * can be reported, unless it has one. */
void tpsl_give_signal_stack(void);

/* ---- fault.c ---- */
/* Who has the fault that the calling thread is in. */
struct tpsl_victim {
    int rank;
    char name[80];              /* for the report */
    const struct tpsl_job *job; /* whose launcher is told; NULL: it learns of the end of a process from its status */
};
typedef bool tpsl_find_victim(struct tpsl_victim *); /* false: it is no rank's */
/* Installs the handler of faults. `chained`: also where the program handles a signal or ignores it, and the handler then
 * does as the program wants; else only where the default stands. */
void tpsl_watch_faults(tpsl_find_victim *, bool chained);
/* Puts back what was there when the library was loaded. */
void tpsl_restore_signals(void);

/* ---- crash.c ---- */
/* For the handler of a fatal signal: tells stderr what came to whom, and where. Only the
 * first one in the address space is told. */
void tpsl_crash_report(const char *whom, int signal, siginfo_t *, void *context);
/* Tells of a thread whose thread pointer is bad. Neither its rank nor its frames can be found. */
void tpsl_crash_without_thread(uintptr_t pc);

/* ---- stack.c: the calling thread's stack, from the newest frame ---- */
/* A frame's instruction, or with `exact` false the one that its call returns to. False
 * ends the walk. */
typedef bool tpsl_frame_visitor(uintptr_t pc, bool exact, void *data);
void tpsl_stack_prepare(void); /* takes locks and memory; a walk then takes none */
void tpsl_stack_walk(tpsl_frame_visitor *, void *data);

/* Where the handler of a signal interrupted the thread. */
struct tpsl_interruption {
    uintptr_t pc;
    long result;       /* the register of a system call's number, and then of its result */
    uintptr_t operand; /* its first one */
};
/* Whether any of the handlers that the calling thread is in interrupted what `is` says. */
bool tpsl_interrupted(bool (*is)(const struct tpsl_interruption *));

#endif

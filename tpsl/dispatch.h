/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * How an MPI call finds its rank: inside libtpsl, not installed.
 */
#ifndef TPSL_DISPATCH_H
#define TPSL_DISPATCH_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "endpoint.h"
#include "loader.h"
#include "process.h"
#include "znames.h"

struct tpsl_copies; /* private_libraries.c */

/* What the instances of ranks are made of. Jobs that are made alike have the same. */
struct tpsl_libraries {
    struct tpsl_libraries *older; /* of jobs that are made otherwise */
    int recipe; /* of loader.h */
    const char *mpi; /* file of the MPI library; NULL before the first claim */
    bool standard;   /* whether the program was built for the standard ABI, and not for MPICH's */
    bool collectives; /* TPSL_COLLECTIVES=memory */
    bool alike;       /* the same holds for all other processes of the job */
    bool windows;     /* TPSL_WINDOWS=memory */
    bool yields;      /* the instances have libtpslyield */
    bool progress;    /* TPSL_PROGRESS=neighbours */
    void *fronts[TPSL_NSTUBS]; /* with it, by stub: functions of ours that come before the library's; NULL: there is none */
    /* Functions of the MPI library that the list has no names for. */
    const char *const *unlisted;
    int nunlisted;
    /* Libraries of the program that every rank has to itself, and what the program uses of them. */
    struct tpsl_private_library *private;
    struct tpsl_private_symbol *functions, *variables;
    int nprivate, nfunctions, nvariables;
};
struct tpsl_private_library {
    const char *file;
    const char *prepare; /* a function that is called in each copy; "": none */
};
struct tpsl_private_symbol {
    const char *name;
    int library; /* index in `private` */
    size_t size;
    void *address; /* of a variable: the program's; NULL: it has none */
};

/* Every exported MPI name and the stub it belongs to. */
struct tpsl_name {
    const char *name;
    int stub;
};
extern const struct tpsl_name tpsl_names[TPSL_NNAMES];

/* The calling thread's table: that of the endpoint it acts for, else the unbound
 * one. The stubs read it, nothing else is on their way. */
extern __thread void *const *tpsl_table __attribute__((tls_model("initial-exec")));
extern void *const tpsl_unbound_table[TPSL_NSTUBS + TPSL_NPRIVATE] __attribute__((visibility("hidden")));
/* Entries of every rank's table under TPSL_CHECK=1. */
extern void *const tpsl_checked_table[TPSL_NSTUBS] __attribute__((visibility("hidden")));
/* What stands in front of the MPI library under TPSL_PROGRESS=neighbours. */
extern void *const tpsl_entered_table[TPSL_NSTUBS] __attribute__((visibility("hidden")));

/* ---- table.c ---- */
extern bool tpsl_checking; /* tables lead calls through check.c; check.c sets it before the first table is made */
/* Makes the calling thread act for ep (NULL: for none). */
void tpsl_act_for(struct tpsl_endpoint *ep);
/* Makes the table of an endpoint whose instance is there: the address of every stub's function in it, and our
 * own where we stand in front. False: no memory. */
bool tpsl_make_table(struct tpsl_endpoint *);
/* The instance's own function behind a stub of MPI. */
void *tpsl_real(const struct tpsl_endpoint *, int stub);
const char *tpsl_stub_name(const struct tpsl_job *, int stub);
/* Ends the job: the rank of an endpoint has no function for a stub. */
_Noreturn void tpsl_lacks(const struct tpsl_endpoint *, int stub);

/* ---- private_libraries.c: libraries of the program that every rank has to itself ---- */
/* Stubs behind those of the list. Entry i is of stub TPSL_NSTUBS + i. */
/* The first of these stubs are those of tpsl_libraries.unlisted, the functions of private libraries have the next. */
extern void *const tpsl_private_stubs[TPSL_NPRIVATE] __attribute__((visibility("hidden")));
/* Opens the libraries in the instance that the calling thread acts for. NULL: there are
 * none. *error becomes a line from malloc if one cannot be opened. */
struct tpsl_copies *tpsl_open_private(const struct tpsl_libraries *, char **error);
/* Makes copies ready for use, by a thread that acts for their rank and has initialised
 * MPI; once. */
void tpsl_prepare_private(struct tpsl_copies *);
/* Fills a table's entries of private functions. */
void tpsl_fill_private(void **table, const struct tpsl_copies *);
const char *tpsl_private_name(const struct tpsl_libraries *, int stub); /* NULL: not one of their functions */

/* ---- unlisted.c: functions of the MPI library that are newer than the list ---- */
/* Their names, with NULL at the end. */
const char *const *tpsl_unlisted(void);

/* ---- abi.c: what differs between MPICH's ABI and the standard one ---- */
/* Whether the process's program and libraries are linked with an MPI library of this name, or its stand-in. */
bool tpsl_linked(const char *soname);
/* The file of a library of this name that the process has loaded, if its functions of MPI are not ours; NULL: there is none. */
const char *tpsl_other_mpi(const char *soname);
/* Ends the job if the instance of the endpoint has another ABI than the program. Preconditions: the calling thread acts
 * for the endpoint. */
void tpsl_check_abi(const struct tpsl_endpoint *);
/* MPI_THREAD_MULTIPLE of the program's ABI. */
int tpsl_thread_multiple(const struct tpsl_job *);
/* Whether the number is one of that ABI's MPI_THREAD_SINGLE, ... */
bool tpsl_is_thread_level(const struct tpsl_job *, int level);

/* ---- opal_segments.c: in front of functions of Open MPI (loader.Config) ---- */
struct opal_segment;
int tpsl_opal_segment_create(struct opal_segment *, const char *file, size_t size);
void *tpsl_opal_segment_attach(struct opal_segment *);

/* ---- collectives.c, windows.c: in front of functions of the MPI library (loader.Config) ---- */
/* By the names that programs use. */
struct tpsl_mpi_wrapper {
    const char *name;
    void *function;
};
extern const struct tpsl_mpi_wrapper tpsl_movements[21], tpsl_reductions[12], tpsl_windows[14];
/* After a rank's MPI_Init; until then the library serves it. */
void tpsl_collectives_start(struct tpsl_endpoint *);
void tpsl_windows_start(struct tpsl_endpoint *); /* after the former */

/* ---- progress.c: TPSL_PROGRESS=neighbours; the functions do nothing without ---- */
/* Whether the thread of a rank is inside its MPI library, and who may be in its place. tpsl_enter knows the first three. */
struct tpsl_presence {
    void *const *functions; /* by stub: what an entry goes on to */
    _Atomic uint32_t inside; /* calls, of which one may be in a callback of the other; only threads of the rank write it */
    _Atomic int helper;      /* 1 + slot of the rank whose thread lets this library work, or is about to; 0: nobody */
    unsigned (*worker_progress)(void *); /* UCX's */
    unsigned found; /* what rounds of progress have found, all together */
    int idle;       /* rounds since one has found something */
    bool stands_in; /* this is no rank, but a helper in the place of one */
} __attribute__((aligned(64)));
/* Of the rank that the calling thread acts for; NULL: calls are not marked. */
extern __thread struct tpsl_presence *tpsl_present __attribute__((tls_model("initial-exec")));
/* The entry that stands in front of a function, by its index in tpsl_names; NULL: none does. */
void *tpsl_progress_entry(int name);
unsigned tpsl_ucp_worker_progress(void *worker); /* in front of UCX's */
/* For a rank's new instance. Preconditions: the calling thread acts for the instance. */
void tpsl_progress_prepare(struct tpsl_endpoint *);
/* From now on neighbours may help the rank: after its MPI_Init. Until then, and after functions of the program have been given to
 * the MPI library, nobody does. */
void tpsl_progress_open(struct tpsl_endpoint *);
/* From now on nobody does; a helper has left. */
void tpsl_progress_close(struct tpsl_endpoint *);
void tpsl_progress_report(const struct tpsl_job *); /* writes what was done, if TPSL_PROGRESS_REPORT=1 */

/* ---- preload.c ---- */
/* Where what libtpsl needs of files is: tpsl/ beside this library, with a slash at its end.
 * "": unknown. */
const char *tpsl_folder(void);

/* ---- dlopen.c: private copies that the program asks for ---- */
void tpsl_finish_dlopened(void); /* at process exit */

/* ---- setup.c: before the first call of a rank ---- */
/* The process's own job: that of its launcher, or the one that TPSL_RANKS or an OpenMP team makes. Finds out, once. Does not return
 * on error. */
struct tpsl_job *tpsl_setup(void);
void tpsl_refuse_child(const char *call, const char *advice); /* ends a process that was forked from one that has libtpsl, in one line; NULL: the usual advice */
struct tpsl_job *tpsl_is_set_up(void); /* NULL: not yet */
/* The job of the rank that the calling thread acts for, else the process's own. */
struct tpsl_job *tpsl_job(void);
/* New ones, zeroed, for good. NULL: no memory. Jobs may be made at the same time. */
struct tpsl_libraries *tpsl_libraries_new(void);
/* For a new job, before its ranks are claimed. */
void tpsl_job_begin(struct tpsl_job *, uint64_t number);
/* Readies what the claim of a slot needs: the file of the MPI library, the rank's environment, and the handler of
 * faults. Does not return on error. */
void tpsl_prepare_claim(const struct tpsl_endpoint *);

/* ---- claim.c ---- */
/* The slot that the calling thread asked for and has not got yet. */
extern __thread int tpsl_wanted __attribute__((tls_model("initial-exec")));
enum { TPSL_ANY_SLOT = INT_MIN };
/* The endpoint of the calling thread, claimed now if it has none yet: the slot wanted, or
 * any. Does not return on error. */
struct tpsl_endpoint *tpsl_claim(const char *call);
/* The same for a thread that has none: a free slot of a job. */
struct tpsl_endpoint *tpsl_claim_of(struct tpsl_job *, const char *call, int slot);
/* Ends the job: a thread passed a slot that it does not have. */
_Noreturn void tpsl_no_such_slot(const struct tpsl_job *, const char *call, int slot);
/* Binds an unbound thread by the rules of adoption. NULL: it has no rank. */
struct tpsl_endpoint *tpsl_adopt(void);

/* ---- openmp.c ---- */
int tpsl_openmp_thread(void); /* the thread number in the outermost parallel region, -1: outside of one */
int tpsl_openmp_team(void);   /* how many threads that region has, 0: outside of one */

/* ---- init.c: the calls that we stand in front of ---- */
int tpsl_MPI_Init(int *argc, char ***argv);
int tpsl_MPI_Init_thread(int *argc, char ***argv, int required, int *provided);
int tpsl_MPI_Finalize(void);
int tpsl_MPI_Session_init(uintptr_t info, uintptr_t errhandler, void *session);
/* Of a thread of TPSL_Run whose rank has ended: what its thread_local variables' destructors ask (MPI 4.0, 11.4.1). */
extern __thread bool tpsl_was_rank __attribute__((tls_model("initial-exec")));
int tpsl_unbound_Initialized(int *flag);
int tpsl_unbound_Finalized(int *flag);
int tpsl_unbound_Get_version(int *version, int *subversion);
int tpsl_unbound_Register_tool_name(const char *tool, void (*begin)(int tool_id));

/* ---- check.c: TPSL_CHECK=1; the functions do nothing without, but for the first ---- */
/* A call that the calling thread is inside of. It lies on the thread's stack. */
struct tpsl_call {
    struct tpsl_endpoint *ep;
    int stub;
    bool occupies; /* it is the call that other threads find in the rank */
    struct tpsl_call *outer; /* the call whose callback makes this one */
};
void tpsl_check_start(void);
/* MPI_Init of the rank has succeeded: its thread level is known. */
void tpsl_check_initialized(struct tpsl_endpoint *);
/* Whether any thread may make a call at any time, whatever the rank's thread level. The name is without a P in front. */
bool tpsl_for_any_thread(const char *name);
/* Around a call. `alone`: no other thread may be inside a call of the rank, unless that
 * rank has MPI_THREAD_MULTIPLE. */
void tpsl_check_enter(struct tpsl_call *, struct tpsl_endpoint *, int stub, bool alone);
void tpsl_check_leave(struct tpsl_call *);
/* Before the calling thread acts for another endpoint (NULL: for none). */
void tpsl_check_switch(const char *call, const struct tpsl_endpoint *to);

#endif

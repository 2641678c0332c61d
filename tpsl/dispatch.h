/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * How an MPI call finds its rank: inside libtpsl, not installed.
 */
#ifndef TPSL_DISPATCH_H
#define TPSL_DISPATCH_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "endpoint.h"
#include "loader.h"
#include "znames.h"

struct tpsl_copies; /* private.c */

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

/* ---- dispatch.c ---- */
/* Makes the calling thread act for ep (NULL: for none). */
void tpsl_act_for(struct tpsl_endpoint *ep);
/* Table for a new instance: the address of every stub's function in it, and our
 * own where we stand in front. NULL: no memory. */
void **tpsl_make_table(struct tpsl_instance *, const struct tpsl_copies *);
/* The instance's own function behind a stub of MPI. */
void *tpsl_real(const struct tpsl_endpoint *, int stub);
const char *tpsl_stub_name(int stub);

/* ---- private.c: libraries of the program that every rank has to itself ---- */
/* Stubs behind those of the list. Stub TPSL_NSTUBS + i is that of function i. */
extern void *const tpsl_private_stubs[TPSL_NPRIVATE] __attribute__((visibility("hidden")));
/* What the program has; strings from malloc. A library whose `prepare` is not empty has
 * that function called in each copy. */
void tpsl_add_private_library(char *file, char *prepare);
void tpsl_add_private_function(char *name, int library);
void tpsl_add_private_variable(char *name, int library, size_t size);
/* Opens the libraries in the instance that the calling thread acts for. NULL: there are
 * none. *error becomes a line from malloc if one cannot be opened. */
struct tpsl_copies *tpsl_open_private(char **error);
/* Makes copies ready for use, by a thread that acts for their rank and has initialised
 * MPI; once. */
void tpsl_prepare_private(struct tpsl_copies *);
/* Fills a table's entries of private functions. */
void tpsl_fill_private(void **table, const struct tpsl_copies *);
int tpsl_private_count(void);            /* of their functions */
const char *tpsl_private_name(int stub); /* NULL: not one of them */

/* ---- preload.c ---- */
/* Where what libtpsl needs of files is: tpsl/ beside this library, with a slash at its end.
 * "": unknown. */
const char *tpsl_folder(void);

/* ---- copies.c: private copies that the program asks for ---- */
void tpsl_finish_copies(void); /* at process exit */

/* ---- claim.c ---- */
/* The slot that the calling thread asked for and has not got yet. */
extern __thread int tpsl_wanted __attribute__((tls_model("initial-exec")));
enum { TPSL_ANY_SLOT = INT_MIN };
/* The endpoint of the calling thread, claimed now if it has none yet: the slot wanted, or
 * any. Does not return on error. */
struct tpsl_endpoint *tpsl_claim(const char *call);
/* Binds an unbound thread by the rules of adoption. NULL: it has no rank. */
struct tpsl_endpoint *tpsl_adopt(void);
void tpsl_setup(void);
bool tpsl_is_set_up(void);
/* The thread number in the outermost parallel region, -1 outside of one. */
int tpsl_openmp_thread(void);
/* Whether the process was started with more than one rank. */
bool tpsl_many(void);

/* ---- init.c: the calls that we stand in front of ---- */
int tpsl_MPI_Init(int *argc, char ***argv);
int tpsl_MPI_Init_thread(int *argc, char ***argv, int required, int *provided);
int tpsl_MPI_Finalize(void);
int tpsl_MPI_Session_init(int info, int errhandler, int *session);
int tpsl_unbound_Initialized(int *flag);
int tpsl_unbound_Finalized(int *flag);
int tpsl_unbound_Get_version(int *version, int *subversion);
int tpsl_unbound_Register_tool_name(const char *tool, void (*begin)(int tool_id));

/* ---- check.c: TPSL_CHECK=1; the functions do nothing without ---- */
extern bool tpsl_checking;
/* A call that the calling thread is inside of. It lies on the thread's stack. */
struct tpsl_call {
    const struct tpsl_endpoint *ep;
    int stub;
    bool occupies; /* it is the call that other threads find in the rank */
    struct tpsl_call *outer; /* the call whose callback makes this one */
};
bool tpsl_check_start(void); /* once there are endpoints; false: no memory */
/* MPI_Init of the rank has succeeded: its thread level is known. */
void tpsl_check_initialized(const struct tpsl_endpoint *);
/* Around a call. `alone`: no other thread may be inside a call of the rank, unless that
 * rank has MPI_THREAD_MULTIPLE. */
void tpsl_check_enter(struct tpsl_call *, const struct tpsl_endpoint *, int stub, bool alone);
void tpsl_check_leave(struct tpsl_call *);
/* Before the calling thread acts for another endpoint (NULL: for none). */
void tpsl_check_switch(const char *call, const struct tpsl_endpoint *to);

/* ---- place.c ---- */
/* Pins the calling thread to the CPUs of its endpoint, unless the program chose
 * its place already. */
void tpsl_pin(const struct tpsl_endpoint *);

/* ---- die.c ---- */
/* One line on stderr, then the end of the whole job with exit status `code`. */
_Noreturn void tpsl_die(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A descriptor that the launcher passed. Its number may be another file's by the time it
 * is needed, when the MPI library has closed it. */
struct tpsl_wire {
    int fd;
    dev_t device;
    ino_t inode;
};
void tpsl_wire_open(struct tpsl_wire *, int fd);
bool tpsl_wire_is_open(const struct tpsl_wire *); /* safe in a signal handler */
/* Adds a session where the launcher hears of an abort. */
void tpsl_add_pmi_fd(int fd);

/* ---- fault.c ---- */
void tpsl_watch_faults(void);
void tpsl_restore_signals(void);
void tpsl_set_control_fd(int fd);

#endif

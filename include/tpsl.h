/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * tpsl.h: threads as MPI ranks. mpi.h includes it.
 *
 * A process holds a rank set: the ranks that mpiexec -rpp K gave it. A slot is an
 * index 0..K-1 into that set. A thread that calls MPI_Init claims a slot, *owns* it and
 * is that rank from then on. Threads that it makes *act for* the same rank without
 * owning it; with K>1 MPI_Init by one of them claims a slot of its own. A thread owns one
 * slot at most, and acts for one at a time. With K=1 every thread acts for slot 0, once
 * that is initialised and the thread calls MPI.
 *
 * Misuse ends the job with one line that says why, as an MPI error does under
 * MPI_ERRORS_ARE_FATAL. TPSL_CHECK=1 in the environment finds misuse that is marked
 * [check] below, too, at the price of a look at every MPI call; longjmp out of a call is not
 * supported with it.
 */
#ifndef TPSL_H
#define TPSL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Claims `slot` for the calling thread and initialises MPI on it: what the
 * three-argument MPI_Init does. Returns MPI_SUCCESS or an MPI error code. Misuse: a slot
 * out of range, one that is claimed, a thread that owns another. */
int TPSL_Init(int slot);

/* What the three-argument MPI_Init calls. In C++ that is an overload of MPI_Init, so that
 * `auto p = &MPI_Init` and decltype(MPI_Init) are ambiguous: write the type,
 * int (*p)(int *, char ***) = MPI_Init. */
int TPSL_MPI_Init(int *argc, char ***argv, int slot);

/* The following four answer at any time, before MPI_Init and after MPI_Finalize. */

/* Number of ranks in this process: K. */
int TPSL_Local_size(void);

/* Slot that the calling thread acts for, -1: none, or none before its first MPI call. */
int TPSL_Slot(void);

/* Rank in MPI_COMM_WORLD of a slot of this process, -1: no such slot. */
int TPSL_Rank_of(int slot);

/* 1 if that rank of MPI_COMM_WORLD lives in this process, so shares its memory, else 0. */
int TPSL_Same_process(int rank);

/* Makes the calling thread act for another rank of this process from here on, until it
 * switches again. Any thread may: MPI_Is_thread_main still tells who initialised the
 * rank, but nothing depends on it. The slot must be initialised, or claimed by a call
 * that is legal before; its owner may have ended, and MPI_Finalize may have been called.
 * -1: act for no rank; only for threads that own no slot. Returns the slot before, -1:
 * none, so that what was returned can be given back.
 *
 * [check] Not from a callback, inside an MPI call. No other thread may be inside an MPI
 * call of that rank, unless that rank has MPI_THREAD_MULTIPLE; nor may two threads that
 * act for one rank be inside MPI calls at once. */
int TPSL_Switch(int slot);

/* Makes the calling thread the owner of an initialised slot whose owner has ended, on
 * that slot's CPU. The thread may act for a rank, but not own one. Returns 0, or -1: the
 * slot's owner lives, nothing has changed. OpenMP threads do this by themselves.
 * [check] Not from a callback. */
int TPSL_Adopt(int slot);

/* Address of a function or variable in the private MPI library of an initialised slot,
 * NULL: it has none of that name. For tools. */
void *TPSL_Symbol(int slot, const char *name);

/* Options of TPSL_Run. A member that is 0 or NULL has its default, but size must be set. */
struct TPSL_Options {
    size_t size;      /* sizeof(struct TPSL_Options): later versions may append members */
    int thread_level; /* that the ranks ask for: MPI_THREAD_SINGLE, ... */
    int caller;       /* 1: the calling thread is rank 0 meanwhile; 0: it waits, and all ranks have threads of their own */
    size_t stack;     /* bytes of a rank's stack, of which it gets 256 KiB at least; 0: as pthread_create gives */
    const char *cpus; /* lists of the CPUs that each rank is pinned to, with ; between, as "0-1;2,4"; NULL: ranks run where the caller may */
};

/* Runs function(argument) on each of `nranks` new ranks, which are threads of this process, without mpiexec: MPI is initialised
 * when the function is called, and finalised after it has returned, unless it has done so itself. Their MPI_COMM_WORLD is a job of
 * its own. Returns when all ranks have ended: 0 if each call of the function returned 0, else the result that is farthest from 0, of
 * two as far the negative one.
 *
 * It may be called again and again, with other numbers, and by several threads at a time: each call is another job, whose ranks
 * cannot send to those of others. The program need not use MPI besides. MPI_Abort, an MPI error and exit() on a rank end the
 * process. When a rank ends, its MPI library goes from memory: threads that the function has made must have ended.
 *
 * options may be NULL. The thread functions above are about the job of the rank that the calling thread is.
 *
 * Misuse: no ranks, or more than the limits of the process allow; a caller that is a rank; a function that lets an exception pass,
 * or ends its thread; a child made by fork that leaves the function; a program that has loaded an MPI library itself; an MPI library that speaks PMIx. */
int TPSL_Run(int nranks, int (*function)(void *argument), void *argument, const struct TPSL_Options *options);

/* The following four need no MPI, and no mpiexec.
 *
 * Opens a private copy of a library and of what it is built from, and runs its
 * constructors: every call makes a new copy, with variables of its own. `library` is
 * what dlopen takes: a file, or a name that ld.so would find. libc and the language
 * runtimes stay the process's. NULL: TPSL_Dlerror says why. */
void *TPSL_Dlopen(const char *library);

/* Address of a function or variable in a copy, NULL: it has none of that name. Any
 * thread may use it; the library must be right with one thread at a time. */
void *TPSL_Dlsym(void *copy, const char *name);

/* Ends a copy as exit() ends a process: destructors of the calling thread's
 * thread_local variables, atexit functions, destructors. Then it goes from memory, unless
 * something that exists once in the process refers to it. Misuse that is not found: a
 * thread that is inside the copy, or comes to it later, by a pointer or because the copy
 * made it. 0, or -1: no such copy. */
int TPSL_Dlclose(void *copy);

/* What went wrong in the thread's last call of the three above, NULL: nothing since this
 * was called last. The text stays until the thread's next such call. */
char *TPSL_Dlerror(void);

#ifdef __cplusplus
}
#endif

#endif

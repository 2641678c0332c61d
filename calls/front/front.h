/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What calls.c, communicators.c and counts.c know of each other. Two libraries are made of this folder: libtpslcalls notes calls, and
 * libtpslprofile (with TPSL_PROFILE defined) counts them as well.
 *
 * Handles are integers in MPICH and addresses in others. All arguments of calls are passed on as the words that they are.
 */
#ifndef TPSL_FRONT_H
#define TPSL_FRONT_H

#include "board.h"

#include <stdbool.h>

typedef uintptr_t word;

enum function {
#define CALL(name, ...) FUNCTION_##name,
#define START CALL
#define OTHER CALL
#include "functions.h"
    FUNCTIONS
};

/* ---- calls.c ---- */

extern struct tpsl_board_rank *tpsl_own; /* NULL: there is no board */
extern struct tpsl_counts *tpsl_counts;  /* NULL: nobody counts */

/* Returns the function of a name that stands behind this library, as a caller finds it (behind.h). The process ends if there is none.
 * If it does not find one, or is NULL, an earlier caller does. */
void *tpsl_find(const char *name, const void *caller);

/* ---- communicators.c ---- */

/* Learns of the MPI library, when the rank has initialised. */
void tpsl_learn_library(void);
/* To be called when the rank has initialised MPI_COMM_WORLD. */
void tpsl_learn_world(void);
/* Learns of a new communicator: its address is where the MPI library has put its handle. It is collective over the members. */
void tpsl_learn_communicator(const void *communicator);
/* A communicator is about to be freed. Its address is that of its handle. */
void tpsl_forget_communicator(const void *communicator);
void tpsl_name_communicator(word communicator, const char *name);

/* ---- communicators.c, for counts.c ---- */

/* What is needed of an MPI library, and the constants of its ABI. */
struct tpsl_library {
    int (*Comm_size)(word, int *), (*Comm_rank)(word, int *), (*Comm_test_inter)(word, int *), (*Query_thread)(int *), (*Bcast)(void *, word, word, word, word);
    word world, self, null, byte;
};
extern struct tpsl_library tpsl_mpi;

/* A handle as it stands in the board: MPICH's has 32 bits, and the rest of its word may hold anything. */
word tpsl_handle(word communicator);
/* The handle at an index of an array of handles. */
word tpsl_handle_at(const void *handles, int index);
/* Copies what is known of a communicator; false: nothing is. */
bool tpsl_known_communicator(word handle, struct tpsl_communicator *copy);
/* The address of a variable that the MPI library defines; 0: there is none. */
word tpsl_variable(const char *name);

/* ---- counts.c: in libtpslprofile only ---- */

/* A call that is under way. */
struct visit {
    struct tpsl_note *note; /* NULL: it is not noted */
#ifdef TPSL_PROFILE
    bool counts, outer;     /* it is counted; no other call of the thread is under way */
    enum function function;
    word place, communicator; /* where it returns to; a handle, 0: it has none */
    uint64_t began, ended;
    uint64_t bytes;
#endif
};

#ifdef TPSL_PROFILE
/* A call begins; PMPI functions that are called in a call are not counted. */
void tpsl_count_begin(struct visit *, word frame, bool by_pmpi);
uint64_t tpsl_ticks(void);
/* Counts a call that has ended. */
void tpsl_count(struct visit *, word frame);
void tpsl_count_none(bool stop);
void tpsl_choose_clock(void); /* before the first call */
void tpsl_forget_members(word handle);
void tpsl_name_members(word handle, const char *name);
#endif

#endif

/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * tpsl.h: threads as MPI ranks. mpi.h includes it.
 *
 * A process holds a rank set: the ranks that mpiexec -rpp K gave it. A slot is an
 * index 0..K-1 into that set. A thread that calls MPI_Init claims a slot and is
 * that rank from then on. Misuse ends the job with one line that says why, as an
 * MPI error does under MPI_ERRORS_ARE_FATAL.
 */
#ifndef TPSL_H
#define TPSL_H

#ifdef __cplusplus
extern "C" {
#endif

/* Claims `slot` for the calling thread and initialises MPI on it: what the
 * three-argument MPI_Init does. Returns MPI_SUCCESS or an MPI error code. */
int TPSL_Init(int slot);
int TPSL_MPI_Init(int *argc, char ***argv, int slot);

/* Number of ranks in this process: K. Callable at any time. */
int TPSL_Local_size(void);

/* Slot that the calling thread acts for, -1: none. */
int TPSL_Slot(void);

/* Rank in MPI_COMM_WORLD of a slot of this process, -1: no such slot. */
int TPSL_Rank_of(int slot);

/* 1 if that rank of MPI_COMM_WORLD lives in this process, so shares its memory. */
int TPSL_Same_process(int rank);

/* Makes the calling thread act as another rank of this process from here on, until
 * it switches again. Returns the slot before, -1: none. The thread whose rank that
 * is must not be inside an MPI call unless MPI_THREAD_MULTIPLE was asked for. */
int TPSL_Switch(int slot);

/* Makes a thread without a rank the owner of a slot whose thread has ended. Returns
 * 0, or -1: its thread lives on. OpenMP threads do this by themselves. */
int TPSL_Adopt(int slot);

/* Address of a function or variable in the private MPI library of a slot, NULL:
 * it has none of that name. For tools. */
void *TPSL_Symbol(int slot, const char *name);

#ifdef __cplusplus
}
#endif

#endif

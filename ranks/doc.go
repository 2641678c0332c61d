// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package ranks runs functions of a Go program as MPI ranks, for programs that call MPI in C by cgo.
//
// [Run] makes ranks within a call, without mpiexec: it is TPSL_Run of tpsl.h. The program is built with CC=tpslcc, which finds mpi.h and
// links with libtpsl. Each rank is a thread with a private copy of the MPI library, and the ranks share all memory of the program.
//
// # Threads
//
// The goroutine on which Run calls a function is locked to the rank's thread until it returns. It is the rank, and calls MPI. Other goroutines that
// it starts are no ranks: they compute, and must not call MPI. Nor do threads that C code of the program itself makes act for a rank;
// those of shared libraries do.
//
// # What ends the process
//
// A panic of a function, as a process without some of its ranks cannot go on: with one line and exit status 2. An MPI error and
// MPI_Abort, with the exit status that mpiexec would have. What TPSL_Run refuses, such as more ranks than the limits of the process
// allow: with one line and exit status 1.
package ranks

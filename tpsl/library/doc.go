// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package library chooses the MPI library of a process and judges files that claim to
// be one.
//
// A library has the MPICH ABI when it is of MPICH or its relatives: the handles and
// constants that their mpi.h compiles into programs are the same in all of them. The
// judgement goes by symbols; nothing is loaded.
//
// All functions may be called from any goroutine.
package library

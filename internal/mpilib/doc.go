// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package mpilib judges which MPI library a file is, and chooses the one that libtpsl
// loads for a program.
//
// A library is judged by its symbols and by those of the libraries that it needs, never
// by its name alone: other libraries go by the names of MPI libraries, and libraries of
// different makers go by one name. [Of] tells the ABI, which decides the programs that
// can use the library, the implementation, and the protocol by which its ranks find each
// other. Nothing is loaded.
//
// There are three ABIs. That of MPICH and its relatives, and that of Open MPI, are what
// their mpi.h compiles into programs. The standard ABI came with MPI 5.0, and libraries of
// both implementations have it.
//
// All functions may be called from any goroutine.
package mpilib

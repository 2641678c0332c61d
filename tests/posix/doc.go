// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package posix runs small programs of POSIX, C and C++ twice: flat, a process per rank, and
// as private ranks of one address space. Both must print the same, exit the same and leave
// the same files.
//
// A source of testdata holds the programs of one area: threads.c, keys.c, signals.c and so on. "threads" lists
// their names, and "threads NAME FOLDER" runs one of them, which may write files
// into the folder. What a program prints must not depend on time, process ids or
// addresses. Most programs call no MPI, as `-tpsl private` takes any program; those of mpi.c do, and one of openmp.c.
//
// Programs of testdata/limits show limits of private ranks, and how they differ.
//
// A difference is a fault, or a limit that docs/flat-programs.md names; no program leaves out what would differ.
//
// It holds tests only.
package posix

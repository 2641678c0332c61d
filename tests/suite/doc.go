// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package suite runs one set of MPI programs twice: flat, a process per rank under
// mpiexec.hydra, and as thread ranks, also from the flat executable. All must print the
// same, exit the same and leave the same file.
//
// There is a program for each interface (mpif.h, the modules mpi and mpi_f08, C's from
// C++) in each area. A program checks its own results; rank 0 prints one line. Its body
// runs on every thread of an OpenMP team, so that one source serves both ways: flat, the
// team is one thread. What threads must not share is local to the body or threadprivate.
//
// It holds tests only.
package suite

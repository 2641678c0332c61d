// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package tpsl is the runtime inside an application process: it makes threads
// MPI ranks.
//
// The program calls the stubs of libtpsl (one per function that libmpich exports,
// generated from package names). A stub jumps through the calling thread's table. A
// thread gets its table when it claims a slot of the process's rank set: the MPI
// library is then loaded once more for it (package loader), with the rank's PMI
// identity in its environment. See docs/architecture.md for the way of a call.
//
// C does all that runs on the program's stacks (first_call.c, claim.c, table.c, init.c); Go reads
// the rank set, chooses the MPI library, and watches for slots that nobody claims.
//
// Not safe: calling into MPI from a signal handler, as with any MPI library; fork
// without exec after MPI_Init.
package tpsl

//go:generate go run ./internal/stubgen -dir . -map ../cmd/libtpsl/libtpsl.map

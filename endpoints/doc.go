// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package endpoints keeps which thread is which rank of a process.
//
// An endpoint is a slot of a job's ranks in this process, with its world rank and its
// private instance of the MPI library. A process may have several jobs. A thread claims a free slot, brings its
// instance up, binds to it and owns it until it ends; then another thread may
// adopt it. A thread acts for one endpoint at a time, its own unless it switched
// to another.
//
// The life cycle runs inside MPI calls, on stacks without Go, so it is C: see
// endpoint.h for the states. The Go half looks on.
//
// All functions may be called from any thread.
package endpoints

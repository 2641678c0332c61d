// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package pmix serves PMIx to the ranks of a host, which Open MPI's need in place of PMI.
//
// A program of ours, the helper, has the ranks' connections: it is linked with libpmix, so that mpiexec need not be
// (hydra/pmix, which says what it speaks). A [Server] starts it, describes the ranks to it, and answers what it asks on their
// behalf: barriers, names, spawns, what ranks of other hosts have put. It knows nothing of processes; what the helper tells
// of ranks goes to [Events].
//
// A nil Server serves nobody; Query, Close, Drain and Remove may be called on it. Serve runs on a goroutine of its own.
package pmix

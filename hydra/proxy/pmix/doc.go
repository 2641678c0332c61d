// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package pmix serves PMIx to the ranks of a host. Ranks of Open MPI need PMIx in place of PMI.
//
// A program of ours, the helper, has the connections of the ranks. It is linked with libpmix, so that mpiexec need not be.
// hydra/pmix describes its protocol. A [Server] starts the helper, describes the ranks to it, and answers its requests on their
// behalf: barriers, names, spawns, and what ranks of other hosts have put. A Server knows nothing of processes. What the helper
// reports about ranks goes to [Events].
//
// A nil Server serves nobody; Query, Close, Drain and Remove may be called on it. Serve runs on a goroutine of its own.
package pmix

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package proxy runs the ranks of one host on behalf of mpiexec.
//
// A proxy reads its part of the plan from its standard input, starts one process per rank set, serves their PMI
// sessions, and passes stdio, signals and exits along the channel on its standard streams. It is a subreaper: whatever
// its ranks leave behind becomes its child and ends with the job. When the channel closes, everything ends; when the
// proxy itself is killed, the kernel kills its ranks (PR_SET_PDEATHSIG).
//
// What the ranks need is the business of packages of its own: what a program is and how its ranks share a process (executable),
// what the host's hardware gives them (hardware), their descriptors (descriptors), their input and output (stdio), PMIx (pmix)
// and RDMA (rdma). This one has the processes: it prepares, starts, signals and ends them, and tells mpiexec how they ended.
//
// A rank set's process is a session and process group of its own and inherits the descriptors of its layout and nothing else.
//
// Not safe: a proxy owns all children of its process, so it must be alone in it.
package proxy

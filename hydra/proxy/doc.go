// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package proxy runs the ranks of one host on behalf of mpiexec.
//
// A proxy reads its part of the plan from its standard input, starts one process per rank set, serves their PMI
// sessions, and passes stdio, signals and exits along the channel on its standard streams. It is a subreaper, so processes
// that its ranks leave behind become its children and end with the job. When the channel closes, all processes end. When the
// proxy itself is killed, the kernel kills its ranks (PR_SET_PDEATHSIG).
//
// Other packages do parts of this work: they find out what a program is and how its ranks share a process (executable), what
// the host's hardware gives to ranks (hardware), their descriptors (descriptors), their input and output (stdio), PMIx (pmix)
// and RDMA (rdma). This package handles the processes: it prepares, starts, signals and ends them, and tells mpiexec how they
// ended.
//
// A rank set's process has a session and process group of its own. It inherits only the descriptors of its layout.
//
// Not safe: a proxy owns all children of its process, so no other code in that process may start children.
package proxy

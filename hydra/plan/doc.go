// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package plan decides which ranks run where, before anything runs.
//
// A [Request] is what the user asks for, whoever read it and from where. A [Site] is what the decision depends on besides:
// the host of mpiexec, its environment, and the hosts that ranks may run on. [New] makes a [Plan] of the two. A plan has a
// [Host] for each host with ranks, which is all that the proxy of that host is told. The ranks of a host are cut into rank
// sets; those of a [RankSet] share one process.
//
// The hardware of a host is known only there. What it decides, the CPUs of each rank and the rank sets of a program that
// wants a process for each NUMA node, is a [Placement]: the proxy makes it with [Host.Place] and sends it to the job. A plan
// is never written to after it was made.
//
// All types are plain values. Functions touch no system state, but for [Site.FindHosts], which reads host files and asks
// resource managers, and [Plan.Spawn], which reads the host file that a rank names.
package plan

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package plan decides which ranks run where, before anything runs.
//
// A [Request] is what the user asks for. It does not depend on where it was read. A [Site] has everything else that the decision
// depends on: the host of mpiexec, its environment, and the hosts that ranks may run on. [New] makes a [Plan] from the two. A
// plan has a [Host] for each host with ranks. This is all that the proxy of that host gets. The ranks of a host are divided
// into rank sets. The ranks of a [RankSet] share one process.
//
// The hardware of a host is known only on that host. It decides the CPUs of each rank, and the rank sets of a program that
// wants a process for each NUMA node. These decisions are a [Placement]. The proxy makes it with [Host.Place] and sends it to
// the job. A plan does not change after it was made.
//
// All types are plain values. Only two functions use the state of the system: [Site.FindHosts] reads host files and asks
// resource managers, and [Plan.Spawn] reads the host file that a rank names.
package plan

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package foreign runs rank sets under a launcher other than mpiexec of tpsl.
//
// Such a launcher starts a process for each rank. The processes of one host are divided into sets, in the order in which
// the launcher numbers them on that host. The first process of a set is its leader, and the others are donors. Each donor
// gives the leader its standard streams and its PMI session over a Unix socket (SCM_RIGHTS, unix(7)). A rank that PMIx serves
// has no session to give: it connects to the server by itself. After that a donor only passes signals on, and ends as its rank
// ends. The leader starts the process that has the ranks, as our proxy does. The launcher still sees the ranks that it has
// started, so labels, exit codes and barriers are correct.
//
// The socket has an abstract name, made from what serves PMI or PMIx on this host for the launcher and from the set's place
// there. File permissions do not guard such names. So leader and donor ask the kernel for the user of the other end
// (SO_PEERCRED) before they send or receive anything, and skip names that another user has taken.
//
// Not safe: a leader owns all children of its process, so no other code in that process may start children.
package foreign

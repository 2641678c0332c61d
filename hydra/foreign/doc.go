// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package foreign runs rank sets under a launcher that is not ours.
//
// Such a launcher starts a process for each rank. Those of one host, in the order in which the launcher counts them
// there, are cut into sets. The first process of a set is its leader, the others are donors: each gives the leader its
// PMI session and standard streams over a Unix socket (SCM_RIGHTS, unix(7)), then only passes signals on and ends as its
// rank ends. The leader starts the process that has the ranks, as a proxy of ours would. To the launcher all of them are
// the ranks it has started: labels, exit codes and barriers stay right.
//
// The socket has an abstract name, made from the launcher's process that serves PMI on this host and the set's place
// there. File permissions do not guard such names: leader and donor ask the kernel for the user of the other end
// (SO_PEERCRED) before anything is given or taken, and pass over names that another user has taken.
//
// Not safe: a leader owns all children of its process, so it must be alone in it.
package foreign

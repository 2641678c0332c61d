// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package whereabouts lets a user ask a running mpiexec where the ranks of its job are.
//
// mpiexec listens on a Unix socket of the abstract namespace, whose name has its process id; it goes with the process. The kernel tells
// each side who the other is. A user is answered about jobs of that user only, and root about all.
package whereabouts

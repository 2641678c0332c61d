// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package verbs carries messages between the ports of processes on several hosts by RDMA.
//
// A node is the processes that have joined, each with the ranks from its first one on, one port each. The ports of a part of
// a process share a rail: completions, memory for what comes, and a cache of registrations. Two processes have a link, which is made
// when one of them has something to send: a pair of queue pairs for each rail, and a TCP connection, by which they have
// told each other where their queue pairs are. A short message is sent into memory that the receiver's rail has posted; a
// large one is offered, and the receiver's device reads it from the sender's buffer. Both buffers are registered
// through the caches.
//
// While a rail's memory is used up its peers' devices wait, and a port may owe a rail of a peer's a window of messages that it
// has not taken; then the sender has to wait.
//
// The TCP connection tells of the peer's end. What a peer that has left had sent is still delivered; all else to
// or from it fails with an error that names it.
//
// Peers prove to each other that they know the job's secret. Not safe: what travels is neither encrypted nor signed, and a
// peer may read whole pages around a buffer that was offered to it. What comes is checked before it is used.
//
// A Port is for one thread at a time, different ports are independent. The threads of a rail's ports move on what it carries,
// whichever polls. docs/endpoints/verbs.md has the arguments.
//
// The package is built with the tag verbs, and then needs cgo, libibverbs-dev and libucx-dev. Without the tag it is empty.
package verbs

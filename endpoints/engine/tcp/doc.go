// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package tcp carries messages between the ports of processes on several hosts.
//
// A node is the processes that have joined, each with the ranks from its first one on, one
// port each. Two processes have a link: a stream of frames each way, over one connection at
// a time. It is made when there is something to send, and closed when it has carried nothing for a while. A short message travels in a frame; a large one is offered, and its bytes
// follow from the sender's buffer into the receiver's when that has pulled them.
//
// A stream outlives its connections. Its bytes are counted; what the peer has not
// acknowledged is kept, and on a new connection each side says how far it has come, and the
// other goes on from there. So nothing is lost, doubled or overtaken. A peer that cannot
// be reached for too long is gone: what it had sent is still delivered, all else to or
// from it fails with an error that names it.
//
// Processes that listen at several addresses have rails: parts of large messages go by all pairs of
// addresses at once, and by the others when one fails.
//
// A port may owe a process a window of messages that it has not taken. Then the sender has
// to wait, so what nobody asked for takes a limited part of memory.
//
// Peers prove to each other that they know the job's secret. Not safe: what travels is
// neither encrypted nor signed; whoever can write into the connections of a job can
// change its messages. Whatever comes is checked before it is used.
//
// A Port is for one thread at a time, different ports are independent. The threads of all ports
// move the node's connections on, whichever polls. docs/endpoints/carriers.md has a figure and the
// arguments.
package tcp

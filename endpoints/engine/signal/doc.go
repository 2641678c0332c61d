// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package signal carries short messages between any two processes over few connections.
//
// The processes form a torus of one, two or three dimensions with a ring inside. Each has
// links to its neighbours only, at most two for each dimension and two of the ring. A message to
// any other process goes from neighbour to neighbour on a shortest way.
//
// Words. A channel is one direction of a link. A message is in a class; classes have buffers of
// their own at each link. A credit is the right to use one such buffer of the neighbour. A notice
// tells that a link is down.
//
// A message has at most MaxPayload bytes. There is no rendezvous: a message waits in buffers of
// the processes on its way, each of which has a fixed number for each link and class. No process
// sends without a credit, and the classes keep messages from waiting for one another in
// a circle; docs/endpoints/signalization.md has the argument.
//
// When a link is down, because its other end has ended or for another reason, its ends tell
// all processes, and messages go around. A process is gone when no way leads to it. A
// message that is inside a process that ends, or on a link that breaks, is lost: whoever
// waits for an answer hears that the process is gone, or asks again.
//
// Messages between two processes come in the order sent as long as no link goes down.
//
// Not safe: a handler must not wait, since all messages of the process, and those that only pass
// through it, wait for it.
//
// Threads: Send is for any thread, unless the network is Polled. Such a network is for one thread
// at a time.
package signal

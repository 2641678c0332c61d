// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package engine passes tagged messages between very many threads, without an MPI
// library.
//
// A fabric is a set of ports, numbered from 0. A port sends to a port of its fabric
// and receives from it; a message carries a context, a tag and the number of the
// port that it comes from, its envelope, and a receive takes the first message whose
// envelope it names. Messages between two ports with one envelope come in the order
// sent, as in MPI; a receive may leave the source or the tag open.
//
// An active message (Invoke) names a handler in place of a tag, which runs where the message comes. A port may also
// put into memory of another, get from it and change its words: that is a Region, named by a Key.
// All ports together run the collective operations of a Team.
// An operation ends into a Request, or into a Completion that many share.
//
// Words. An operation (op) is a posted send or receive; a Request is the caller's
// handle on one. A short message travels inside the ring cell that announces it, an
// eager one in a packet, a large one by rendezvous: the ring carries only its
// announcement, and one copy goes from buffer to buffer. An arrival that no receive
// waits for is unexpected and is kept.
//
// Not safe: the buffer of an operation belongs to the engine until the operation is
// done. A fabric without wildcards may be told so (Options), and then must not see
// any.
//
// Threads: Options.Model says how many threads may use one port at once. In every
// model different ports may be used by different threads at the same time.
package engine

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package shm carries messages between the ports of processes on one host.
//
// A node is the processes that have joined; each has the ranks from its first one
// on, one port each. A process makes one segment, a memfd that its peers map too,
// with tracks, where it receives, and packets, from which it sends. A track is a
// ring from one process to one port. A message travels in a cell of a track, in a
// packet that a cell names, or, above the size of a packet, after the receiver has
// asked for it: read straight out of the sender's memory where the kernel allows
// that, else as a stream of packets.
//
// Processes meet over sockets that they were given: Meet runs in whoever started
// them, Join in each. Nothing has a name in a file system or on a network, so
// nothing can stay behind.
//
// What stands in memory that a peer can write is checked before it is used: a peer
// that is broken is cut off. A peer that has ended, at whatever point, is gone:
// what it had sent is still delivered, all else to or from it fails with
// ErrPeerGone.
//
// A Port is for one thread at a time, different ports are independent. Wake may be
// called by any thread. docs/endpoints/shm.md has a figure and the arguments.
package shm

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package packet is a bounded set of packets that threads take and give back where
// they are likely to be warm in their caches.
//
// A packet is a number and as many bytes of one slab, which starts at a page, so that
// a NIC could be told about it once. Each worker has a private pool, a deque, from which
// it takes the packet that it gave back last; with more than 64 workers, some share one.
// What no longer fits there, coldest first, goes to the shared pool, a stack without
// locks, which is also where the receiving side takes from and gives to. Who finds
// nothing there steals the coldest packet of a worker chosen at random.
//
// Nobody blocks, and nobody gets None unless all packets were out at some moment of the
// call; then the message stays pending.
//
// All methods may be called by any number of threads. The worker that a caller names
// decides about locality only. Who gives a packet back must have it: that is not checked.
//
// docs/endpoints/packets.md has the proofs.
package packet

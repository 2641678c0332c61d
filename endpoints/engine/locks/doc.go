// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package locks lets many threads share what one thread at a time may touch.
//
// It has queue locks (MCS, and HMCS of two levels), a lock whose holder does the
// work of those that wait (CSync), a queue by which work is left for the next
// holder (Queue), a lock without a queue (Flag), and the manner of
// waiting that they share (Spin, Backoff).
//
// The thread that holds a lock is its holder. A thread brings the Node or Entry
// by which it queues; at rest, which is when no queue has it, that is all zero, so
// that taking a free lock writes nothing but the lock. Nothing here allocates.
// Loops over the work of others are the caller's, so no function is passed.
//
// Not safe: a Node or Entry in two queues at once, and release by who is not the holder.
// The essays docs/endpoints/combining.md and docs/endpoints/swp-queue.md say who
// owns which word and why each store is enough.
package locks

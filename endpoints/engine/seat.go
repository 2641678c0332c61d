// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"sync/atomic"

	"github.com/tpsl/tpsl/endpoints/engine/fult"
	"github.com/tpsl/tpsl/endpoints/engine/locks"
)

// A seat is what an op has where threads share its port: the places by which the
// thread that started it queues. Four cache lines.
type seat struct {
	node    locks.Node       // in the queue of a lock
	entry   *locks.Entry[op] // in a queue of operations; LockQ's Queue may change it for another
	backoff locks.Backoff    // of who asks after the op; kept from turn to turn
	role    atomic.Uint32    // HMCS, see port_hmcs.go
	next    *seat            // HMCS: who began to wait after this one
	op      *op
	woken   uint64 // HMCS: how often the thread was let run while it waited
	_       [24]byte
	sleeper fult.Sleeper // HMCS: what the thread sleeps by
}

// newSeats makes the seats of a chunk of ops.
func newSeats(ops []op, from *slab[seat]) *[]seat {
	seats := from.take(len(ops))
	entries := make([]locks.Entry[op], len(ops))
	for i := range seats {
		seats[i].entry, seats[i].op = &entries[i], &ops[i]
	}
	return &seats
}

// seat returns the seat of the op with this index.
func (l *pool) seat(index uint32) *seat {
	chunk, offset := place(index)
	return &(*l.seats[chunk].Load())[offset]
}

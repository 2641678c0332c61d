// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"fmt"
	"sync/atomic"
)

// Inline is how many bytes of payload fit into a cell.
const Inline = 40

// CellSize is the size of a cell: one cache line.
const CellSize = 64

// A Cell is one entry of a ring, 64 bytes. All but the turn is its user's; nothing
// is cleared between uses.
type Cell struct {
	turn    atomic.Uint32 // which message the cell holds: the low bits of its position, plus 1
	Kind    uint32        // what it is
	Context uint32        // the envelope
	Source  int32
	Tag     int32
	Length  uint32 // bytes of the message
	Inline  [Inline]byte
}

// producers is the line that producers write.
type producers struct {
	tail atomic.Uint64 // the next position to claim
	seen atomic.Uint64 // a head that some producer read: spares the others the consumer's line
	_    [48]byte
}

// consumer is the line that the consumer writes, once per batch.
type consumer struct {
	head atomic.Uint64 // every cell before this position is free again
	_    [56]byte
}

// headerCells is how many cells' room the two lines above take.
const headerCells = 2

// MaxCapacity keeps a turn unambiguous: it tells two uses of a cell apart.
const MaxCapacity = 1 << 24

// A Ring is one process's handle on a ring: what does not change, then, on a line
// of its own, what the consumer keeps to itself.
type Ring struct {
	p     *producers
	c     *consumer
	cells []Cell
	mask  uint64
	batch uint64 // the consumer publishes its head when this many cells are free
	_     [8]byte

	next      uint64 // the position of the front cell
	published uint64 // the head as producers may see it
	_         [48]byte
}

// Size returns the bytes that a ring of so many cells takes.
func Size(capacity int) int { return (headerCells + capacity) * CellSize }

// New returns an empty ring in memory of its own. The capacity is a power of two
// from 2 to MaxCapacity.
func New(capacity int) (*Ring, error) {
	if err := check(capacity); err != nil {
		return nil, err
	}
	return place(make([]Cell, headerCells+capacity)), nil
}

func check(capacity int) error {
	if capacity < 2 || capacity > MaxCapacity || capacity&(capacity-1) != 0 {
		return fmt.Errorf("ring of %d cells: take a power of two from 2 to %d", capacity, MaxCapacity)
	}
	return nil
}

// place makes a handle on the ring in memory: its two header lines, then its cells.
func place(memory []Cell) *Ring {
	p, c := header(memory)
	capacity := uint64(len(memory) - headerCells)
	r := &Ring{p: p, c: c, cells: memory[headerCells:], mask: capacity - 1, batch: max(capacity/4, 1)}
	r.published = c.head.Load()
	r.next = r.published
	return r
}

// Capacity returns how many cells the ring has.
func (r *Ring) Capacity() int { return len(r.cells) }

// Claim takes the next free cell for the caller to fill in, with the turn that
// publishes it. The cell is nil if the ring is full.
func (r *Ring) Claim() (cell *Cell, turn uint32) {
	for {
		at := r.p.tail.Load()
		if !r.free(at, r.p.seen.Load()) && !r.free(at, r.look()) {
			return nil, 0
		}
		if r.p.tail.CompareAndSwap(at, at+1) {
			return &r.cells[at&r.mask], uint32(at) + 1
		}
	}
}

// free tells whether the cell at position at is free when head is. A tail that was
// read long ago may lie behind the head: then the claim fails, not the ring.
func (r *Ring) free(at, head uint64) bool { return int64(at-head) <= int64(r.mask) }

// look reads the consumer's line. A head that replaces a newer one, of a producer
// that was faster, only makes somebody look again.
func (r *Ring) look() uint64 {
	head := r.c.head.Load()
	r.p.seen.Store(head)
	return head
}

// Publish hands a claimed and filled cell to the consumer.
func (c *Cell) Publish(turn uint32) { c.turn.Store(turn) }

// Warm fetches the line of the next cell to claim, for writing, and changes nothing: a
// producer that has nothing else to do saves its next Claim and Publish the way to the
// consumer's cache.
func (r *Ring) Warm() { r.cells[r.p.tail.Load()&r.mask].turn.Or(0) }

// Front returns the oldest message's cell, which is valid until Pop, or nil if none
// is ready.
func (r *Ring) Front() *Cell {
	c := &r.cells[r.next&r.mask]
	if c.turn.Load() != uint32(r.next)+1 {
		return nil
	}
	return c
}

// Pop gives the front cell back to the producers, at the latest with the next few.
//
// Preconditions: Front returned it.
func (r *Ring) Pop() {
	r.next++
	if r.next-r.published >= r.batch {
		r.published = r.next
		r.c.head.Store(r.next)
	}
}

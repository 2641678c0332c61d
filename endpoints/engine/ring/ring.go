// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"fmt"
	"math/bits"
	"sync/atomic"
)

// Inline is how many bytes of payload fit into a cell.
const Inline = 40

// CellSize is the size of a cell: one cache line.
const CellSize = 64

// HeaderSize is how many bytes a ring takes beside its cells.
const HeaderSize = 2 * CellSize

// A Cell is one entry of a ring, 64 bytes. All but the turn is its user's; nothing
// is cleared between uses.
type Cell struct {
	turn    atomic.Uint32 // which message the cell holds: the low bits of its position, and a change
	Kind    uint32        // what it is
	Context uint32        // the envelope
	Source  int32
	Tag     int32
	Length  uint32 // bytes of the message
	Inline  [Inline]byte
}

// A change says how the capacity is behind a cell. It is in the low bits of a published cell's turn, so
// that zeros are a cell that nobody has published.
type change = uint32

const (
	stays change = iota + 1
	doubles
	halves

	changeBits = 2
)

// A tail is the next position to claim, and how often the capacity there has doubled: both change at once.
type tail = uint64

const doublingBits = 5

// producers is the line that producers write. All but the first two words are for the capacity.
type producers struct {
	tail     atomic.Uint64 // the next tail
	seen     atomic.Uint64 // a head that some producer read: spares the others the consumer's line
	refused  atomic.Bool   // a claim failed since the last lap
	trial    atomic.Uint32 // how many laps are left in which a halving that is taken back came too early
	calm     atomic.Uint32 // how many laps have ended with little in the ring
	patience atomic.Uint32 // how many must, beside firstPatience, before the capacity is halved
	_        [32]byte
}

// consumer is the line that the consumer writes, once per batch.
type consumer struct {
	head atomic.Uint64 // every cell before this position is free again
	_    [56]byte
}

// MaxCapacity keeps a turn unambiguous: it tells two uses of a cell apart.
const MaxCapacity = 1 << 24

// A Ring is one process's handle on a ring: what does not change, then, on a line
// of its own, what the consumer keeps to itself.
type Ring struct {
	p         *producers
	c         *consumer
	cells     []Cell
	least     uint64             // its capacity at first
	doublings uint64             // how often that may double
	release   func(from, to int) // makes zeros of cells that were left

	next      uint64 // the position of the front cell
	published uint64 // the head as producers may see it
	mask      uint64 // the capacity at next, less 1
	due       uint64 // the consumer publishes its head when this many cells are free
	_         [8]byte
	policy    func(at, capacity, head uint64) change // which change the producers wish before position at
	_         [16]byte
}

// New returns an empty ring in memory of its own. The capacity is a power of two
// from 2 to MaxCapacity, and stays.
func New(capacity int) (*Ring, error) {
	if err := check(capacity); err != nil {
		return nil, err
	}
	memory := make([]Cell, HeaderSize/CellSize+capacity)
	p, c := header(memory)
	return place(p, c, memory[HeaderSize/CellSize:], capacity, nil), nil
}

func check(capacity int) error {
	if capacity < 2 || capacity > MaxCapacity || capacity&(capacity-1) != 0 {
		return fmt.Errorf("ring of %d cells: take a power of two from 2 to %d", capacity, MaxCapacity)
	}
	return nil
}

// place makes a handle on a ring.
//
// Preconditions: the capacities have been checked, the least is not above the number of cells. A consumer's handle is made
// before its first Pop; until then the capacity cannot change.
func place(p *producers, c *consumer, cells []Cell, least int, release func(from, to int)) *Ring {
	r := &Ring{p: p, c: c, cells: cells, least: uint64(least), doublings: uint64(bits.Len(uint(len(cells)/least)) - 1), release: release}
	r.published = c.head.Load()
	r.next = r.published
	r.mask = r.least - 1
	r.due = r.batch()
	r.policy = r.adapt
	return r
}

// capacity returns the capacity at a tail. A tail that makes no sense, in memory that another process may write, has that of all cells at most.
func (r *Ring) capacity(t tail) uint64 { return r.least << min(t&(1<<doublingBits-1), r.doublings) }

// Capacity returns how many cells the ring may have at most.
func (r *Ring) Capacity() int { return len(r.cells) }

// Claim takes the next free cell for the caller to fill in, with the turn that
// publishes it. The cell is nil if the ring is full.
func (r *Ring) Claim() (cell *Cell, turn uint32) {
	for {
		t := r.p.tail.Load()
		at, mask := t>>doublingBits, r.capacity(t)-1
		if !free(at, r.p.seen.Load(), mask) && !free(at, r.look(), mask) {
			if r.doublings > 0 && !r.p.refused.Load() {
				r.p.refused.Store(true)
			}
			return nil, 0
		}
		next, behind := t+1<<doublingBits, stays
		if at&mask == mask && r.doublings > 0 {
			next, behind = r.reshape(t)
		}
		if r.p.tail.CompareAndSwap(t, next) {
			return &r.cells[at&mask], uint32(at)<<changeBits | behind
		}
	}
}

// free tells whether the cell at position at is free when head is. A tail that was
// read long ago may lie behind the head: then the claim fails, not the ring.
func free(at, head, mask uint64) bool { return int64(at-head) <= int64(mask) }

// look reads the consumer's line. A head that replaces a newer one, of a producer
// that was faster, only makes somebody look again.
func (r *Ring) look() uint64 {
	head := r.c.head.Load()
	r.p.seen.Store(head)
	return head
}

// reshape decides, for the producer that claims the last cell of a lap, about the capacity from the next lap on. It
// returns the tail behind the cell and the change. docs/endpoints/ring.md says why these positions are the right ones.
func (r *Ring) reshape(t tail) (next tail, behind change) {
	next = t + 1<<doublingBits
	at, capacity := next>>doublingBits, r.capacity(t)
	switch behind = r.policy(at, capacity, r.look()); {
	case behind == doubles && capacity < uint64(len(r.cells)) && at&capacity != 0:
		return next + 1, doubles
	case behind == halves && capacity > r.least:
		return next - 1, halves
	}
	return next, stays
}

// How many laps must end with little in the ring before its capacity is halved: at first, and how many more at most.
const (
	firstPatience = 8
	mostPatience  = 24
)

// adapt is the policy: a ring that has refused a claim becomes larger. One in which there is little at the end of
// several laps becomes smaller. If that has to be taken back soon, it came too early, and the ring waits longer the next time.
func (r *Ring) adapt(at, capacity, head uint64) change {
	if r.p.refused.Load() {
		if capacity < uint64(len(r.cells)) && at&capacity == 0 {
			return stays // it may double after the next lap
		}
		if r.p.trial.Swap(0) > 0 {
			r.p.patience.Store(min(2*r.p.patience.Load()+firstPatience, mostPatience))
		}
		r.p.refused.Store(false)
		r.p.calm.Store(0)
		return doubles
	}
	if trial := r.p.trial.Load(); trial > 0 {
		r.p.trial.Store(trial - 1)
		if trial == 1 {
			r.p.patience.Store(0)
		}
	}
	if at-head > capacity*3/8 {
		r.p.calm.Store(0)
		return stays
	}
	if r.p.calm.Add(1) < firstPatience+r.p.patience.Load() || capacity == r.least {
		return stays
	}
	r.p.trial.Store(firstPatience)
	r.p.calm.Store(0)
	return halves
}

// Publish hands a claimed and filled cell to the consumer.
func (c *Cell) Publish(turn uint32) { c.turn.Store(turn) }

// PublishUnfenced is Publish for a consumer that polls, and does not wait for its processor. What the caller loads afterwards
// it may load before others see the cell, so it cannot find out whether somebody has to be woken.
func (c *Cell) PublishUnfenced(turn uint32) { store(&c.turn, turn) }

// Warm fetches the line of the next cell to claim, for writing, and changes nothing: a
// producer that has nothing else to do saves its next Claim and Publish the way to the
// consumer's cache.
func (r *Ring) Warm() {
	t := r.p.tail.Load()
	r.cells[t>>doublingBits&(r.capacity(t)-1)].turn.Or(0)
}

// Front returns the oldest message's cell, which is valid until Pop, or nil if none
// is ready.
func (r *Ring) Front() *Cell {
	c := &r.cells[r.next&r.mask]
	if (c.turn.Load()-stays)>>changeBits == uint32(r.next)<<changeBits>>changeBits {
		return c
	}
	return nil
}

// Pop gives the front cell back to the producers, at the latest with the next few.
//
// Preconditions: Front returned it.
func (r *Ring) Pop() {
	if r.next++; r.next-r.published >= r.due {
		r.publish()
	}
}

// publish tells the producers where the head is. It is not inlined, so that Pop is.
//
//go:noinline
func (r *Ring) publish() {
	if r.next&r.mask == 0 && r.doublings > 0 {
		r.follow(r.cells[r.mask].turn.Load() & (1<<changeBits - 1))
	}
	r.published = r.next
	r.due = r.batch()
	r.c.head.Store(r.next)
}

// batch returns how many cells are free when the consumer publishes its head. It divides the capacity, so it is published behind each
// lap.
func (r *Ring) batch() uint64 { return max((r.mask+1)/4, 1) }

// follow changes the capacity as the producers have behind the last cell of a lap, from next on. What makes no sense changes nothing.
// Cells that are left become zeros before a producer may use them again.
func (r *Ring) follow(behind change) {
	capacity := r.mask + 1
	switch {
	case behind == doubles && capacity < uint64(len(r.cells)) && r.next&capacity != 0:
		r.mask = 2*capacity - 1
	case behind == halves && capacity > r.least:
		r.mask = capacity/2 - 1
		r.release(int(capacity/2), int(capacity))
	}
}

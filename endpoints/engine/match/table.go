// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"math/bits"
	"sync/atomic"

	"github.com/tpsl/tpsl/endpoints/engine/locks"
)

// Table is the hash table of one operation. While no receive has wildcards it is
// plain: an operation locks one bucket, and that is all. Otherwise it is ordered:
// see order.go. Each group of fields has lines of its own.
type Table struct {
	nodes   *Nodes
	buckets []bucket // home buckets, then those for overflow
	shift   uint8    // 64 less the binary logarithm of the number of home buckets
	alone   bool     // one thread at a time: locks are left as they are
	_       [line]byte

	ordered atomic.Uint32 // written with order held
	clock   atomic.Uint64 // number of the last receive posted while ordered
	_       [line]byte

	order    locks.Flag // first this one, then a bucket's
	wild     list       // receives with wildcards, as posted
	messages list       // by number; only while ordered
	idle     int        // operations since a wildcard was here
	_        [line]byte

	spare atomic.Uint64 // stack of spare buckets
	_     [line]byte
}

// NewTable makes a table with room for about this many nodes that wait under
// envelopes of their own.
func NewTable(nodes *Nodes, pending int) *Table { return newTable(nodes, pending, false) }

func newTable(nodes *Nodes, pending int, alone bool) *Table {
	t := &Table{nodes: nodes, alone: alone}
	t.alloc(bits.Len(uint(max(0, pending-1) * 2 / 3)))
	return t
}

func (t *Table) lock(l *locks.Flag) {
	if !t.alone {
		l.Acquire()
	}
}

func (t *Table) unlock(l *locks.Flag) {
	if !t.alone {
		l.Release()
	}
}

// alloc gives the table 2^logSize empty home buckets and a quarter of that for overflow.
// On average one to two nodes share a home bucket, and 2 to 7 % of them overflow.
func (t *Table) alloc(logSize int) {
	home := 1 << logSize
	t.shift = uint8(64 - logSize)
	t.buckets = aligned[bucket](home + home/4 + 1)
	t.spare.Store(0)
	for i := len(t.buckets) - 1; i >= home; i-- {
		t.giveBack(uint32(i), &t.buckets[i])
	}
}

func (t *Table) home(e Envelope) *bucket { return &t.buckets[e.hash()>>t.shift] }

// Post hands in a receive. It returns the earliest message that fits, which is out
// then; or None, and the receive waits; or Full.
func (t *Table) Post(i uint32) uint32 {
	n := t.nodes.At(i)
	if n.Wild() {
		return t.postWild(i, n)
	}
	home := t.home(n.Envelope)
	t.lock(&home.lock)
	if t.ordered.Load() != 0 {
		t.unlock(&home.lock)
		return t.postOrdered(home, i, n)
	}
	n.Number = t.clock.Load()
	partner := t.swap(home, receive, i, n)
	t.unlock(&home.lock)
	return partner
}

// Arrive hands in a message. It returns the receive posted first of those that take
// it, which is out then; or None, and the message waits; or Full.
// Preconditions: the envelope has no wildcard.
func (t *Table) Arrive(i uint32) uint32 {
	n := t.nodes.At(i)
	home := t.home(n.Envelope)
	t.lock(&home.lock)
	if t.ordered.Load() != 0 {
		t.unlock(&home.lock)
		return t.arriveOrdered(home, i, n)
	}
	partner := t.swap(home, message, i, n)
	t.unlock(&home.lock)
	return partner
}

// Probe returns the earliest message that a receive with this envelope would take,
// and leaves it there; or None.
func (t *Table) Probe(e Envelope) uint32 {
	if e.Wild() {
		t.enter()
		i := t.earliest(e)
		t.unlock(&t.order)
		return i
	}
	home := t.home(e)
	t.lock(&home.lock)
	i := None
	if found, _ := t.find(home, e); found != nil && found.kind() == message {
		i = found.first()
	}
	t.unlock(&home.lock)
	return i
}

// Cancel takes node i out again, and tells whether it was still there.
func (t *Table) Cancel(i uint32) bool {
	n := t.nodes.At(i)
	t.lock(&t.order)
	defer t.unlock(&t.order)
	if n.Wild() {
		found := n.where == listed
		if found {
			t.wild.remove(t.nodes, i)
		}
		return found
	}
	home := t.home(n.Envelope)
	t.lock(&home.lock)
	defer t.unlock(&home.lock)
	if n.where != keyed {
		return false
	}
	e, _ := t.find(home, n.Envelope)
	if e.kind() == message && t.ordered.Load() != 0 {
		t.messages.remove(t.nodes, i)
	}
	t.remove(home, e, i, n)
	return true
}

// Grow doubles the table. Preconditions: no other thread uses it.
func (t *Table) Grow() {
	logSize := 64 - int(t.shift)
	old := t.buckets
	for grown := false; !grown; {
		logSize++
		t.alloc(logSize)
		grown = t.refill(old)
	}
}

// refill puts the entries of old in, or returns false if there is no room.
func (t *Table) refill(old []bucket) bool {
	for i := range old {
		for _, e := range old[i].entry {
			if e.value == 0 {
				continue
			}
			home := t.home(e.key)
			_, free := t.find(home, e.key)
			if free == nil {
				free = t.overflow(home)
			}
			if free == nil {
				return false
			}
			*free = e
		}
	}
	return true
}

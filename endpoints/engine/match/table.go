// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"math/bits"
	"sync/atomic"

	"github.com/tpsl/tpsl/endpoints/engine/locks"
)

// Table is the hash table of one operation, which grows when it is full. While no receive has wildcards it is
// plain: an operation locks one bucket, and that is all. Otherwise it is ordered:
// see order.go. For one thread at a time there is a shorter way to the envelope of the last
// node that was left to wait: see hot.go. Each group of fields has lines of its own.
type Table struct {
	nodes *Nodes
	space atomic.Pointer[space]
	alone *alone // of one thread at a time, and locks are left as they are; nil: of any number
	_     [line]byte

	ordered atomic.Uint32 // written with order held
	clock   atomic.Uint64 // number of the last receive posted while ordered
	_       [line]byte

	order    locks.Flag // first this one, then a bucket's
	wild     list       // receives with wildcards, as posted
	messages list       // by number; only while ordered
	idle     int        // operations since a wildcard was here
	_        [line]byte
}

// NewTable makes a table with room for about this many nodes that wait under
// envelopes of their own.
func NewTable(nodes *Nodes, pending int) *Table {
	t := &Table{nodes: nodes}
	t.space.Store(newSpace(bits.Len(uint(max(0, pending-1) * 2 / 3))))
	return t
}

func (t *Table) lock(l *locks.Flag) {
	if t.alone == nil {
		l.Acquire()
	}
}

func (t *Table) unlock(l *locks.Flag) {
	if t.alone == nil {
		l.Release()
	}
}

// lockHome locks the home bucket of an envelope, in the space that the table has then.
func (t *Table) lockHome(e Envelope) (*space, *bucket) {
	for {
		s := t.space.Load()
		home := s.home(e)
		t.lock(&home.lock)
		if s == t.space.Load() {
			return s, home
		}
		t.unlock(&home.lock)
	}
}

// Post hands in a receive. It returns the earliest message that fits, which is out
// then; or None, and the receive waits.
func (t *Table) Post(i uint32) uint32 {
	n := t.nodes.At(i)
	if e := t.hot(n.Envelope); e != nil {
		n.Number = t.clock.Load()
		return t.swapHot(e, receive, i, n)
	}
	if n.Wild() {
		return t.postWild(i, n)
	}
	s, home := t.lockHome(n.Envelope)
	if t.ordered.Load() != 0 {
		t.unlock(&home.lock)
		return t.postOrdered(i, n)
	}
	n.Number = t.clock.Load()
	partner := t.swap(s, home, receive, i, n)
	t.unlock(&home.lock)
	if partner == full {
		t.grow(s)
		return t.Post(i)
	}
	return partner
}

// Arrive hands in a message. It returns the receive posted first of those that take
// it, which is out then; or None, and the message waits.
// Preconditions: the envelope has no wildcard.
func (t *Table) Arrive(i uint32) uint32 {
	n := t.nodes.At(i)
	if e := t.hot(n.Envelope); e != nil {
		return t.swapHot(e, message, i, n)
	}
	s, home := t.lockHome(n.Envelope)
	if t.ordered.Load() != 0 {
		t.unlock(&home.lock)
		return t.arriveOrdered(i, n)
	}
	partner := t.swap(s, home, message, i, n)
	t.unlock(&home.lock)
	if partner == full {
		t.grow(s)
		return t.Arrive(i)
	}
	return partner
}

// Probe finds the earliest message that a receive with this envelope would take, or None. While nobody can take
// that out, it asks stays, which nil answers by yes; if the answer is no, the message is out then.
func (t *Table) Probe(e Envelope, stays func(i uint32) bool) (i uint32, out bool) {
	if e.Wild() {
		t.enter()
		defer t.unlock(&t.order)
		if i = t.earliest(e); i == None || stays == nil || stays(i) {
			return i, false
		}
		t.takeOut(i)
		return i, true
	}
	s, home := t.lockHome(e)
	ordered := t.ordered.Load() != 0
	if ordered {
		t.unlock(&home.lock)
		t.lock(&t.order)
		defer t.unlock(&t.order)
		ordered = t.ordered.Load() != 0
		s, home = t.lockHome(e)
	}
	defer t.unlock(&home.lock)
	found, _ := s.find(home, e)
	if found == nil || found.kind() != message {
		return None, false
	}
	if i = found.first(); stays == nil || stays(i) {
		return i, false
	}
	if ordered {
		t.messages.remove(t.nodes, i)
	}
	t.remove(s, home, found, i, t.nodes.At(i))
	return i, true
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
	s, home := t.lockHome(n.Envelope)
	defer t.unlock(&home.lock)
	if n.where != keyed {
		return false
	}
	e, _ := s.find(home, n.Envelope)
	if e.kind() == message && t.ordered.Load() != 0 {
		t.messages.remove(t.nodes, i)
	}
	t.remove(s, home, e, i, n)
	return true
}

// TakeReceives takes out the receives from the peers from first on, before end, and hands each over. A receive that
// any source would do for stays.
func (t *Table) TakeReceives(first, end int32, taken func(i uint32)) {
	t.lock(&t.order)
	defer t.unlock(&t.order)
	t.wild.take(t.nodes, first, end, taken)
	s := t.space.Load()
	homes := s.homes()
	for i := range homes {
		t.lock(&homes[i].lock)
		t.takeFrom(s, &homes[i], first, end, taken)
		t.unlock(&homes[i].lock)
	}
}

// grow gives the table a larger space than one that is full, unless another thread has done so.
// It keeps all others out by their own locks: see lockHome.
func (t *Table) grow(full *space) {
	t.lock(&t.order)
	defer t.unlock(&t.order)
	if t.space.Load() != full {
		return
	}
	homes := full.homes()
	for i := range homes {
		t.lock(&homes[i].lock)
	}
	t.space.Store(full.larger())
	for i := range homes {
		t.unlock(&homes[i].lock)
	}
}

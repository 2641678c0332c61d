// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"sync/atomic"

	"github.com/tpsl/tpsl/endpoints/engine/locks"
)

// kinds of a node, the lowest bit of an entry's value.
const (
	receive uint32 = 0
	message uint32 = 1
)

// An entry maps an envelope, whole, to the nodes that wait under it, all of one kind.
type entry struct {
	key   Envelope
	value uint32 // index of the first node <<1 | kind; 0 is free
}

func (e *entry) first() uint32 { return e.value >> 1 }
func (e *entry) kind() uint32  { return e.value & 1 }

// A bucket is one cache line: the control word of 16 bytes, then three entries.
// The lock of the home bucket guards those that overflow from it too.
type bucket struct {
	lock  locks.Flag
	next  uint32        // bucket that this one overflows to; 0 is none
	link  atomic.Uint32 // next bucket of the spare ones, while it is spare
	_     uint32
	entry [3]entry
}

func (b *bucket) empty() bool {
	return b.entry[0].value|b.entry[1].value|b.entry[2].value == 0
}

// hash spreads envelopes over 64 bits; the highest ones name the bucket. Peers and
// tags are often small and dense, so every bit of them must reach the top.
func (e Envelope) hash() uint64 {
	h := uint64(uint32(e.Peer))<<32 | uint64(uint32(e.Tag))
	h ^= uint64(e.Context) * 0xd6e8feb86659fd93
	h *= 0x9e3779b97f4a7c15
	h ^= h >> 32
	return h * 0xbf58476d1ce4e5b9
}

// find returns the entry of key in the chain of home, or nil and a free entry, if any.
func (s *space) find(home *bucket, key Envelope) (found, free *entry) {
	for b := home; ; b = &s.buckets[b.next] {
		for i := range b.entry {
			e := &b.entry[i]
			if e.value == 0 {
				free = e
			} else if e.key == key {
				return e, nil
			}
		}
		if b.next == 0 {
			return nil, free
		}
	}
}

// swap is the table's operation: it takes the first partner of node i out, or
// leaves the node there, or returns full. Preconditions: the lock of home is held.
func (t *Table) swap(s *space, home *bucket, kind, i uint32, n *Node) uint32 {
	e, free := s.find(home, n.Envelope)
	switch {
	case e == nil && free == nil:
		if free = s.overflow(home); free == nil {
			return full
		}
		fallthrough
	case e == nil:
		e = free
		n.next, n.prev, n.last = 0, 0, i
		*e = entry{key: n.Envelope, value: i<<1 | kind}
	case e.kind() == kind:
		t.queue(e.first(), i, n)
	default:
		partner := e.first()
		t.remove(s, home, e, partner, t.nodes.At(partner))
		return partner
	}
	n.where = keyed
	if t.alone != nil {
		t.heat(home, e)
	}
	return None
}

// takeFrom takes receives out, as TakeReceives does, whose home is locked.
func (t *Table) takeFrom(s *space, home *bucket, first, end int32, taken func(i uint32)) {
	for b := home; ; b = &s.buckets[b.next] {
		for k := range b.entry {
			e := &b.entry[k]
			if e.value == 0 || e.kind() != receive || e.key.Peer < first || e.key.Peer >= end {
				continue
			}
			for i := e.first(); i != 0; {
				n := t.nodes.At(i)
				next := n.next
				n.where = out
				taken(i)
				i = next
			}
			e.value = 0
		}
		if b.next == 0 {
			break
		}
	}
	s.trim(home)
}

// queue puts node i behind the others of its envelope.
func (t *Table) queue(first, i uint32, n *Node) {
	f := t.nodes.At(first)
	n.next, n.prev = 0, f.last
	t.nodes.At(f.last).next = i
	f.last = i
}

// remove takes node i, which waits under e, out of the table.
func (t *Table) remove(s *space, home *bucket, e *entry, i uint32, n *Node) {
	n.where = out
	if first := e.first(); first != i {
		t.nodes.At(n.prev).next = n.next
		if n.next != 0 {
			t.nodes.At(n.next).prev = n.prev
		} else {
			t.nodes.At(first).last = n.prev
		}
		return
	}
	if n.next != 0 {
		t.advance(e, n)
		return
	}
	e.value = 0
	if home.next != 0 {
		s.trim(home)
	}
}

// advance makes the node behind n the first under e, where n was.
func (t *Table) advance(e *entry, n *Node) {
	f := t.nodes.At(n.next)
	f.prev, f.last = 0, n.last
	e.value = n.next<<1 | e.kind()
}

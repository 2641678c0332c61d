// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package match

// Receives that are posted together under one envelope, and messages of one envelope that come together, need one search.

// PostAll hands in receives with one envelope, in order, as Post would, and returns how many of the first ones wait. The
// others are still to be posted, each by Post: a message may be there for them, or this matcher has to look at each.
// Preconditions: there is one at least.
func (m *Matcher) PostAll(receives []uint32) (waiting int) {
	if m.table == nil || m.alone == nil {
		return 0
	}
	waiting = m.table.postAll(receives)
	m.alone.waiting += waiting
	return waiting
}

// ArriveAll is for messages with one envelope that have come together, as many as there is room for receives. It takes out
// the receives that the first ones match, in order, as Arrive would, and returns how many. The other messages are still to be handed in,
// each by Arrive.
func (m *Matcher) ArriveAll(e Envelope, receives []uint32) (matched int) {
	if m.table == nil || m.alone == nil {
		return 0
	}
	matched = m.table.arriveAll(e, receives)
	m.alone.waiting -= matched
	return matched
}

// postAll is PostAll, of a table for one thread at a time. In an ordered table the number that the clock has is that of the
// last receive with wildcards: the receives come behind that, and before the next.
func (t *Table) postAll(receives []uint32) (waiting int) {
	n := t.nodes.At(receives[0])
	if n.Wild() {
		return 0
	}
	s, home := t.lockHome(n.Envelope)
	first, rest := receives[0], receives
	if e, _ := s.find(home, n.Envelope); e == nil {
		n.Number = t.clock.Load()
		if t.swap(s, home, receive, first, n) == full {
			return 0
		}
		rest = rest[1:]
	} else if first = e.first(); e.kind() == message {
		return 0
	}
	f := t.nodes.At(first)
	last := t.nodes.At(f.last)
	for _, i := range rest {
		n = t.nodes.At(i)
		n.next, n.prev, n.where, n.Number = 0, f.last, keyed, t.clock.Load()
		last.next, f.last, last = i, i, n
	}
	return len(receives)
}

// arriveAll is ArriveAll, of a table for one thread at a time.
func (t *Table) arriveAll(envelope Envelope, receives []uint32) (matched int) {
	s, home := t.lockHome(envelope)
	e, _ := s.find(home, envelope)
	if t.ordered.Load() != 0 || e == nil || e.kind() == message {
		return 0
	}
	i := e.first()
	last := t.nodes.At(i).last
	for matched < len(receives) && i != 0 {
		n := t.nodes.At(i)
		n.where, receives[matched], i = out, i, n.next
		matched++
	}
	if i == 0 {
		e.value = 0
		s.trim(home)
		return matched
	}
	f := t.nodes.At(i)
	f.prev, f.last, e.value = 0, last, i<<1|receive
	return matched
}

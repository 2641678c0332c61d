// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package match

// The ordered table. The order of messages of one source under different tags, and
// of receives with wildcards among others, is no bucket's business. So the first
// wildcard makes the table ordered: all operations take one lock, receives get
// numbers, and messages are also in a list by number. Long enough after the last
// wildcard the table is plain again.
//
// An operation reads "ordered" with its bucket locked, and gather locks each bucket
// after "ordered" is set. So a plain operation is over before gather looks at its
// bucket, and none follows.

// enter takes the order lock for an operation with wildcards; the table is ordered then.
func (t *Table) enter() {
	t.lock(&t.order)
	t.idle = 0
	if t.ordered.Load() == 0 {
		t.ordered.Store(1)
		t.gather()
	}
}

// leave ends an ordered operation without wildcards. Going plain costs the list, so
// it is done when as many operations have passed as gather takes steps.
func (t *Table) leave() {
	t.idle++
	if t.wild.length == 0 && t.idle > len(t.space.Load().buckets)+t.messages.length {
		t.ordered.Store(0)
	}
	t.unlock(&t.order)
}

// lockOrdered takes the order lock, or returns false if the table is plain again.
func (t *Table) lockOrdered() bool {
	t.lock(&t.order)
	if t.ordered.Load() == 0 {
		t.unlock(&t.order)
		return false
	}
	return true
}

func (t *Table) postOrdered(i uint32, n *Node) uint32 {
	if !t.lockOrdered() {
		return t.Post(i)
	}
	s, home := t.lockHome(n.Envelope)
	n.Number = t.clock.Add(1)
	partner := t.swap(s, home, receive, i, n)
	t.unlock(&home.lock)
	if partner != None && partner != full {
		t.messages.remove(t.nodes, partner)
	}
	t.leave()
	if partner == full {
		t.grow(s)
		return t.Post(i)
	}
	return partner
}

func (t *Table) arriveOrdered(i uint32, n *Node) uint32 {
	if !t.lockOrdered() {
		return t.Arrive(i)
	}
	s, home := t.lockHome(n.Envelope)
	partner := t.wild.taker(t.nodes, n.Envelope)
	if exact, _ := s.find(home, n.Envelope); partner != None && exact != nil &&
		exact.kind() == receive && t.nodes.At(exact.first()).Number < t.nodes.At(partner).Number {
		partner = None // a receive from when the table was plain has a lower number than what followed
	}
	if partner != None {
		t.wild.remove(t.nodes, partner)
	} else if partner = t.swap(s, home, message, i, n); partner == None {
		t.messages.insert(t.nodes, i)
	}
	t.unlock(&home.lock)
	t.leave()
	if partner == full {
		t.grow(s)
		return t.Arrive(i)
	}
	return partner
}

// postWild hands in a receive with wildcards.
func (t *Table) postWild(i uint32, n *Node) uint32 {
	t.enter()
	defer t.unlock(&t.order)
	partner := t.earliest(n.Envelope)
	if partner == None {
		n.Number = t.clock.Add(1)
		n.where = listed
		t.wild.push(t.nodes, i)
		return None
	}
	t.takeOut(partner)
	return partner
}

// takeOut takes a message out that waits in an ordered table, whose order lock is held.
func (t *Table) takeOut(i uint32) {
	n := t.nodes.At(i)
	s, home := t.lockHome(n.Envelope)
	e, _ := s.find(home, n.Envelope)
	t.messages.remove(t.nodes, i)
	t.remove(s, home, e, i, n)
	t.unlock(&home.lock)
}

// earliest returns the message with the lowest number that a receive takes.
func (t *Table) earliest(e Envelope) uint32 { return t.messages.fits(t.nodes, e) }

// gather makes the list of messages.
func (t *Table) gather() {
	t.messages = list{}
	s := t.space.Load() // which stays, as the order lock is held
	homes := s.homes()
	for i := range homes {
		t.lock(&homes[i].lock)
		t.gatherFrom(s, &homes[i])
		t.unlock(&homes[i].lock)
	}
	t.messages.sort(t.nodes)
}

func (t *Table) gatherFrom(s *space, home *bucket) {
	for b := home; ; b = &s.buckets[b.next] {
		for _, e := range b.entry {
			if e.kind() != message {
				continue
			}
			for i := e.first(); i != 0; i = t.nodes.At(i).next {
				t.messages.push(t.nodes, i)
			}
		}
		if b.next == 0 {
			return
		}
	}
}

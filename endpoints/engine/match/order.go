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
	if t.wild.length == 0 && t.idle > len(t.buckets)+t.messages.length {
		t.ordered.Store(0)
	}
	t.unlock(&t.order)
}

// lockOrdered takes both locks, or none and returns false if the table is plain again.
func (t *Table) lockOrdered(home *bucket) bool {
	t.lock(&t.order)
	if t.ordered.Load() == 0 {
		t.unlock(&t.order)
		return false
	}
	t.lock(&home.lock)
	return true
}

func (t *Table) postOrdered(home *bucket, i uint32, n *Node) uint32 {
	if !t.lockOrdered(home) {
		return t.Post(i)
	}
	n.Number = t.clock.Add(1)
	partner := t.swap(home, receive, i, n)
	t.unlock(&home.lock)
	if partner != None && partner != Full {
		t.messages.remove(t.nodes, partner)
	}
	t.leave()
	return partner
}

func (t *Table) arriveOrdered(home *bucket, i uint32, n *Node) uint32 {
	if !t.lockOrdered(home) {
		return t.Arrive(i)
	}
	partner := t.wild.taker(t.nodes, n.Envelope)
	if exact, _ := t.find(home, n.Envelope); partner != None && exact != nil &&
		exact.kind() == receive && t.nodes.At(exact.first()).Number < t.nodes.At(partner).Number {
		partner = None // a receive from when the table was plain has a lower number than what followed
	}
	if partner != None {
		t.wild.remove(t.nodes, partner)
	} else if partner = t.swap(home, message, i, n); partner == None {
		t.messages.insert(t.nodes, i)
	}
	t.unlock(&home.lock)
	t.leave()
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
	p := t.nodes.At(partner)
	home := t.home(p.Envelope)
	t.lock(&home.lock)
	e, _ := t.find(home, p.Envelope)
	t.messages.remove(t.nodes, partner)
	t.remove(home, e, partner, p)
	t.unlock(&home.lock)
	return partner
}

// earliest returns the message with the lowest number that a receive takes.
func (t *Table) earliest(e Envelope) uint32 { return t.messages.fits(t.nodes, e) }

// gather makes the list of messages.
func (t *Table) gather() {
	t.messages = list{}
	home := t.buckets[:uint64(1)<<(64-t.shift)]
	for i := range home {
		t.lock(&home[i].lock)
		t.gatherFrom(&home[i])
		t.unlock(&home[i].lock)
	}
	t.messages.sort(t.nodes)
}

func (t *Table) gatherFrom(home *bucket) {
	for b := home; ; b = &t.buckets[b.next] {
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

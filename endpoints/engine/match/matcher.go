// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package match

// Kind chooses a matcher.
type Kind uint8

// The matchers: the hash table, which is the default, and the two queues.
const (
	HashTable Kind = iota
	TwoQueues
)

// Kinds are all matchers.
var Kinds = []Kind{HashTable, TwoQueues}

// String returns the matcher's name, as options of commands take it.
func (k Kind) String() string { return [...]string{HashTable: "table", TwoQueues: "queues"}[k] }

// Matcher is a table that grows when it is full, or queues. It is for one thread at a
// time, so its table takes no locks.
type Matcher struct {
	table   *Table // nil: queues
	queues  Queues
	waiting int
}

// New makes a matcher of nodes. A table starts with room for about pending nodes.
func New(kind Kind, nodes *Nodes, pending int) Matcher {
	if kind == TwoQueues {
		return Matcher{queues: *NewQueues(nodes)}
	}
	return Matcher{table: newTable(nodes, pending, true)}
}

// Empty tells whether nothing waits.
func (m *Matcher) Empty() bool { return m.waiting == 0 }

// count counts who waits, of a partner that was found or not, and returns it.
func (m *Matcher) count(partner uint32) uint32 {
	if partner == None {
		m.waiting++
	} else {
		m.waiting--
	}
	return partner
}

// Post hands in a receive: the earliest message that fits, or None, and it waits.
func (m *Matcher) Post(i uint32) uint32 {
	if m.table == nil {
		return m.count(m.queues.Post(i))
	}
	partner := m.table.Post(i)
	for partner == Full {
		m.table.Grow()
		partner = m.table.Post(i)
	}
	return m.count(partner)
}

// Arrive hands in a message: the receive posted first of those that take it, or
// None, and it waits.
func (m *Matcher) Arrive(i uint32) uint32 {
	if m.table == nil {
		return m.count(m.queues.Arrive(i))
	}
	partner := m.table.Arrive(i)
	for partner == Full {
		m.table.Grow()
		partner = m.table.Arrive(i)
	}
	return m.count(partner)
}

// Probe returns the earliest message that a receive with this envelope would take,
// and leaves it there; or None.
func (m *Matcher) Probe(e Envelope) uint32 {
	if m.table == nil {
		return m.queues.Probe(e)
	}
	return m.table.Probe(e)
}

// Cancel takes node i out again, and tells whether it was still there.
func (m *Matcher) Cancel(i uint32) (found bool) {
	if m.table == nil {
		found = m.queues.Cancel(i)
	} else {
		found = m.table.Cancel(i)
	}
	if found {
		m.waiting--
	}
	return found
}

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

// Matcher is a table or queues. It is for one thread at a time, which takes no locks; one that NewShared made
// is for any number.
type Matcher struct {
	table  *Table // nil: queues
	queues Queues
	alone  *alone // nil: shared
}

// alone is what changes with nearly each operation of one thread at a time, and is on a line of its own.
type alone struct {
	waiting int    // nodes
	hot     *entry // of the table: see hot.go. nil: there is none
	_       [line - 2*8]byte
}

// New makes a matcher of nodes for one thread at a time. A table starts with room for about pending nodes.
func New(kind Kind, nodes *Nodes, pending int) Matcher {
	if kind == TwoQueues {
		return Matcher{queues: *NewQueues(nodes), alone: new(alone)}
	}
	t := NewTable(nodes, pending)
	t.alone = new(alone)
	return Matcher{table: t, alone: t.alone}
}

// NewShared makes a matcher, a table, that any number of threads may use at once.
func NewShared(nodes *Nodes, pending int) Matcher {
	return Matcher{table: NewTable(nodes, pending)}
}

// Empty tells whether nothing waits. It is not for a shared matcher.
func (m *Matcher) Empty() bool { return m.alone.waiting == 0 }

// count counts who waits, of a partner that was found or not, and returns it.
func (m *Matcher) count(partner uint32) uint32 {
	switch {
	case m.alone == nil:
	case partner == None:
		m.alone.waiting++
	default:
		m.alone.waiting--
	}
	return partner
}

// Post hands in a receive: the earliest message that fits, or None, and it waits.
func (m *Matcher) Post(i uint32) uint32 {
	if m.table == nil {
		return m.count(m.queues.Post(i))
	}
	return m.count(m.table.Post(i))
}

// Arrive hands in a message: the receive posted first of those that take it, or
// None, and it waits.
func (m *Matcher) Arrive(i uint32) uint32 {
	if m.table == nil {
		return m.count(m.queues.Arrive(i))
	}
	return m.count(m.table.Arrive(i))
}

// Probe finds the earliest message that a receive with this envelope would take, or None, and asks stays, if that
// is not nil, whether it is to stay; if not, it is out.
func (m *Matcher) Probe(e Envelope, stays func(i uint32) bool) (i uint32, out bool) {
	if m.table == nil {
		i, out = m.queues.Probe(e, stays)
	} else {
		i, out = m.table.Probe(e, stays)
	}
	if out && m.alone != nil {
		m.alone.waiting--
	}
	return i, out
}

// TakeReceives takes out the receives from the peers from first on, before end, and hands each over. A receive that
// any source would do for stays.
func (m *Matcher) TakeReceives(first, end int32, taken func(i uint32)) {
	count := func(i uint32) {
		if m.alone != nil {
			m.alone.waiting--
		}
		taken(i)
	}
	if m.table == nil {
		m.queues.TakeReceives(first, end, count)
	} else {
		m.table.TakeReceives(first, end, count)
	}
}

// Cancel takes node i out again, and tells whether it was still there.
func (m *Matcher) Cancel(i uint32) (found bool) {
	if m.table == nil {
		found = m.queues.Cancel(i)
	} else {
		found = m.table.Cancel(i)
	}
	if found && m.alone != nil {
		m.alone.waiting--
	}
	return found
}

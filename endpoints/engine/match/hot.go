// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package match

// The hot entry. Most often the next message or receive has the envelope of the last one. So a table for one thread at a
// time remembers the entry where it has last left a node to wait. With that envelope it need not search.
//
// The hot entry is in a home bucket that chains no other. So it stays where it is until the table grows, and to empty it
// leaves nothing to trim. The table grows only for a node whose entry is made hot next, or none is.
//
// While the hot entry is in use, it is the only one of its key. While it is free, its key is nowhere in the table: each
// node that gets an entry of its own makes that entry the hot one, or none is hot if its home chains. So a node
// with the hot entry's key may go there.

// hot returns the hot entry if it is that of an envelope and the table is plain, or nil.
func (t *Table) hot(key Envelope) *entry {
	if t.alone == nil || t.alone.hot == nil || t.alone.hot.key != key || t.ordered.Load() != 0 {
		return nil
	}
	return t.alone.hot
}

// heat makes an entry in the chain of home the hot one, if that is a home bucket's for sure.
func (t *Table) heat(home *bucket, e *entry) {
	if home.next != 0 {
		e = nil
	}
	if t.alone.hot != e {
		t.alone.hot = e
	}
}

// swapHot is swap under the hot entry.
func (t *Table) swapHot(e *entry, kind, i uint32, n *Node) uint32 {
	first := e.first()
	switch {
	case e.value == 0:
		n.next, n.prev, n.last = 0, 0, i
		e.value = i<<1 | kind
	case e.kind() == kind:
		t.queue(first, i, n)
	default:
		partner := t.nodes.At(first)
		partner.where = out
		if partner.next == 0 {
			e.value = 0
		} else {
			t.advance(e, partner)
		}
		return first
	}
	n.where = keyed
	return None
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package match

// The hot entry. A window of messages or receives most often has one envelope, which a table for one thread at a time
// need not search each time: it remembers the entry where a node has last joined others. The entry may be
// free by now, or another envelope's, but one that is in use and has the right key is the only one of that key. Where
// an operation would free the entry, or the table is ordered, the hot entry does not help.

// isHot tells whether entry e of the space is in use for an envelope, and the table is plain.
func (t *Table) isHot(e *entry, key Envelope) bool {
	return e.value != 0 && e.key == key && t.ordered.Load() == 0
}

// swapHot is swap under an entry in use. It returns full, and has done nothing, if the entry would be free then.
func (t *Table) swapHot(e *entry, kind, i uint32, n *Node) uint32 {
	first := e.first()
	if e.kind() == kind {
		t.queue(first, i, n)
		n.where = keyed
		return None
	}
	partner := t.nodes.At(first)
	if partner.next == 0 {
		return full
	}
	partner.where = out
	t.advance(e, partner)
	return first
}

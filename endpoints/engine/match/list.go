// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package match

// A list links nodes by after and before.
type list struct {
	head, tail uint32
	length     int
}

// push puts node i last.
func (l *list) push(nodes *Nodes, i uint32) { l.insertAfter(nodes, l.tail, i) }

// insert puts node i behind those with lower numbers, which is nearly always last.
func (l *list) insert(nodes *Nodes, i uint32) {
	number := nodes.At(i).Number
	at := l.tail
	for at != 0 && nodes.At(at).Number > number {
		at = nodes.At(at).before
	}
	l.insertAfter(nodes, at, i)
}

// insertAfter puts node i behind node at, or first if that is 0.
func (l *list) insertAfter(nodes *Nodes, at, i uint32) {
	l.length++
	n := nodes.At(i)
	n.before, n.after = at, l.head
	if at != 0 {
		a := nodes.At(at)
		n.after, a.after = a.after, i
	} else {
		l.head = i
	}
	if n.after != 0 {
		nodes.At(n.after).before = i
	} else {
		l.tail = i
	}
}

// remove takes node i out.
func (l *list) remove(nodes *Nodes, i uint32) {
	l.length--
	n := nodes.At(i)
	n.where = out
	if n.before != 0 {
		nodes.At(n.before).after = n.after
	} else {
		l.head = n.after
	}
	if n.after != 0 {
		nodes.At(n.after).before = n.before
	} else {
		l.tail = n.before
	}
}

// take takes receives out, as Table.TakeReceives does.
func (l *list) take(nodes *Nodes, first, end int32, taken func(i uint32)) {
	for i := l.head; i != 0; {
		n := nodes.At(i)
		after := n.after
		if first <= n.Peer && n.Peer < end {
			l.remove(nodes, i)
			taken(i)
		}
		i = after
	}
}

// fits returns the first message that a receive with envelope e takes, or None.
func (l *list) fits(nodes *Nodes, e Envelope) uint32 {
	for i := l.head; i != 0; i = nodes.At(i).after {
		if e.Takes(nodes.At(i).Envelope) {
			return i
		}
	}
	return None
}

// taker returns the first receive that takes a message with envelope e, or None.
func (l *list) taker(nodes *Nodes, e Envelope) uint32 {
	for i := l.head; i != 0; i = nodes.At(i).after {
		if nodes.At(i).Takes(e) {
			return i
		}
	}
	return None
}

// sort orders the list by number: a merge sort, bottom up, where runs[k] is a sorted
// chain of 2^k nodes or 0.
func (l *list) sort(nodes *Nodes) {
	var runs [27]uint32
	for i := l.head; i != 0; {
		run := i
		i = nodes.At(i).after
		nodes.At(run).after = 0
		k := 0
		for ; runs[k] != 0; k++ {
			run = merge(nodes, runs[k], run)
			runs[k] = 0
		}
		runs[k] = run
	}
	all := uint32(0)
	for _, run := range runs {
		all = merge(nodes, run, all)
	}
	*l = list{}
	for i := all; i != 0; {
		after := nodes.At(i).after
		l.push(nodes, i)
		i = after
	}
}

// merge merges two sorted chains; at equal numbers what stands in a goes first.
func merge(nodes *Nodes, a, b uint32) uint32 {
	var head uint32
	for end := &head; ; {
		if a == 0 {
			*end = b
			return head
		}
		if b == 0 {
			*end = a
			return head
		}
		first := &a
		if nodes.At(b).Number < nodes.At(a).Number {
			first = &b
		}
		*end = *first
		end = &nodes.At(*first).after
		*first = *end
	}
}

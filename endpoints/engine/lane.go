// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

// A lane holds, in order, the sends that wait for room in one destination's inbox.
// Destinations do not wait for one another.
type lane struct {
	peer        int32
	first, last *op
	next        *lane
}

// queue puts a send last in its destination's lane, if there is one.
func (p *Port) queue(o *op) bool {
	o.next = nil
	for l := p.lanes; l != nil; l = l.next {
		if l.peer != o.source {
			continue
		}
		if l.first == nil { // all were cancelled
			l.first = o
		} else {
			l.last.next = o
		}
		l.last = o
		return true
	}
	return false
}

// open makes a lane for a send that found no room.
func (p *Port) open(o *op) {
	l := p.spare
	if l == nil {
		l = new(lane)
	} else {
		p.spare = l.next
	}
	o.next = nil
	l.peer, l.first, l.last = o.source, o, o
	l.next, p.lanes = p.lanes, l
	p.full.Store(true)
}

// flush sends from each lane what there is room for, and ends those that are empty.
func (p *Port) flush() (moved bool) {
	for at := &p.lanes; *at != nil; {
		l := *at
		for l.first != nil {
			o := l.first
			next := o.next // o may be used again as soon as it is sent
			if !p.put(o) {
				break
			}
			l.first, moved = next, true
		}
		if l.first == nil {
			*at = l.next
			l.next, p.spare = p.spare, l
		} else {
			at = &l.next
		}
	}
	if p.lanes == nil {
		p.full.Store(false)
	}
	return moved
}

// unqueue takes a send out of its lane, and tells whether it was there.
func (p *Port) unqueue(o *op) bool {
	for l := p.lanes; l != nil; l = l.next {
		if l.peer != o.source {
			continue
		}
		var before *op
		for at := l.first; at != nil; before, at = at, at.next {
			if at != o {
				continue
			}
			if before == nil {
				l.first = o.next
			} else {
				before.next = o.next
			}
			if l.last == o {
				l.last = before
			}
			return true
		}
	}
	return false
}

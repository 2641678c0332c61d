// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/tpsl/tpsl/endpoints/engine/match"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

// Where envelopes are unique (Options.Unique), both sides know which message it will be,
// so that a large send need not ask: it waits in a table of its port for the cell by
// which the receive says that it is ready. A ready receive is also posted, for a small
// message may come instead: who takes it first, by its word, has it.

// readies are the ready cells that no send waited for, in the order they came: those that
// were matched too, until a sweep. What the others stand for may be over.
type readies struct {
	first *op
	count int
	limit int // the count at which to sweep
}

const firstSweep = 64

// unique tells whether an op's peer knows what message it will be, and where its buffer is.
func (p *Port) unique(o *op) bool {
	return p.fabric.options.Unique && p.fabric.peers[o.source].port != nil
}

// offer matches a large send with the ready receives.
func (p *Port) offer(s *op) {
	for {
		i := p.sends.Post(s.index)
		if i == match.None {
			return
		}
		a := p.ops.at(i)
		a.kind = opSpent
		if r := p.opOf(&a.cell); r.take(turnOf(&a.cell)) {
			p.transfer(s, r)
			return
		}
	}
}

// ready matches a receive that is ready with the large sends.
func (p *Port) ready(c *ring.Cell) {
	a := p.stand(c)
	i := p.sends.Arrive(a.index)
	if i == match.None {
		p.keep(a, c)
		p.readies.count++
		a.next, p.readies.first = p.readies.first, a
		if p.readies.count >= max(p.readies.limit, firstSweep) {
			p.sweep()
		}
		return
	}
	s := p.ops.at(i)
	if r := p.opOf(c); r.take(turnOf(c)) {
		p.transfer(s, r)
	} else {
		p.offer(s)
	}
}

// sweep gives back the ready cells that are spent or whose receive is over.
func (p *Port) sweep() {
	for at := &p.readies.first; *at != nil; {
		a := *at
		if a.kind != opSpent && p.opOf(&a.cell).word.Load() == wordOf(turnOf(&a.cell), pending) {
			at = &a.next
			continue
		}
		*at = a.next
		p.readies.count--
		if a.kind != opSpent {
			p.sends.Cancel(a.index)
		}
		p.ops.put(a)
	}
	p.readies.limit = 2 * p.readies.count
}

// announce tells the source of a receive that it is ready, if that wants to know, or ends
// the receive if that is gone. From then on the op may be over, and another operation.
func (p *Port) announce(r *op) {
	if len(r.buf) > p.fabric.options.Eager && p.unique(r) {
		r.ready = true
		p.send(r)
	} else if p.far != nil {
		p.forsake(r)
	}
}

// retire takes a receive that is over out of the matcher, where it still is if a large message ended it.
func (p *Port) retire(r *op) {
	e := p.enter()
	p.matcher.Cancel(r.index)
	p.leave(e)
}

// mine tells whether a receive that matched is to have the message: one that was
// announced may have another by now. If its cellReady waits in a lane still, it leaves that: when it
// ends, it may go into another list.
func (r *op) mine() bool {
	if !r.ready {
		return true
	}
	if !r.take(r.turn) {
		return false
	}
	r.port.unqueue(r)
	return true
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import "time"

// Model HMCS: of the threads that wait on a port one is the server. It alone polls;
// the others sleep until their op is done, which whoever completes it signals to
// that thread and no other, or until they are made the server. A server whose op is
// done makes the one that has waited longest the next, and goes.

// The roles of a seat.
const (
	away    = iota // in no list
	asleep         // in the port's list, and its thread waits
	left           // in the port's list, and its thread no longer waits
	serving        // its thread is the server
)

// clientSleep bounds a sleep, for nobody signals that a fabric is closed.
var clientSleep = time.Millisecond // a test has it longer

// waitServed returns when o is done.
func (p *Port) waitServed(o *op) {
	s := p.ops.seat(o.index)
	if !p.lineUp(s) {
		var w waiter
		for !o.is(done) && s.role.Load() != serving {
			p.doze(s, &w)
		}
		if s.role.CompareAndSwap(asleep, left) {
			return
		}
	}
	var w waiter
	for !o.is(done) {
		if p.poll(o) {
			w.reset()
			continue
		}
		p.pass(o, &w)
	}
	p.appoint(s)
}

// lineUp makes a thread the server if there is none, and else one of those that wait.
func (p *Port) lineUp(s *seat) (server bool) {
	domain := p.domain()
	p.hmcs.Acquire(&s.node, domain)
	switch {
	case !p.served:
		p.served, server = true, true
	case s.role.Swap(asleep) == left: // it is in the list still
	case p.first == nil:
		p.first, p.last = s, s
	default:
		p.last.next = s
		p.last = s
	}
	p.hmcs.Release(&s.node, domain)
	return server
}

// doze passes the time of a thread that waits: it looks a while, then sleeps.
func (p *Port) doze(s *seat, w *waiter) {
	w.polls++
	if w.polls < p.fabric.spins+yields || p.fabric.closed.Load() {
		p.pass(s.op, w)
		return
	}
	s.op.help()
	if s.sleeper.Wait(clientSleep) {
		s.woken++
	}
}

// appoint ends a server's turn: who has waited longest becomes the next.
func (p *Port) appoint(own *seat) {
	domain := p.domain()
	p.hmcs.Acquire(&own.node, domain)
	own.role.CompareAndSwap(serving, away) // one who never lined up may be in the list still
	p.served = p.wakeNext()
	p.hmcs.Release(&own.node, domain)
}

// wakeNext takes seats off the list until it finds one whose thread waits, and makes
// that thread the server.
func (p *Port) wakeNext() bool {
	for p.first != nil {
		s := p.first
		p.first, s.next = s.next, nil
		bit := s.sleeper.Bit()
		if s.role.CompareAndSwap(asleep, serving) {
			bit.Set()
			return true
		}
		s.role.Store(away)
	}
	return false
}

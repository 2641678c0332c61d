// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

// The seam between ports and their peers in other processes: a carrier has something in place
// of inboxes, and does what a sender and a receiver of two processes have to
// agree on. What it says has arrived is a cell like any other here, of a kind of
// the carrier's.

// far is a port's way to other processes, and room for what comes by it.
type far struct {
	port  carrier.Port
	event carrier.Event

	asked  carrier.Slots[*op] // what waits for an answer
	coming map[int32]*op      // by source: whose data come next
}

// wake wakes the owner of a port of this process that sleeps.
//
// Preconditions: what it is to find has been stored.
func (to *peer) wake() {
	if to.bell != nil {
		to.bell.Ring()
	}
	if to.worker != nil {
		to.worker.Ring()
	}
}

// handle names an op to a carrier, for as long as its turn lasts.
func (o *op) handle() uint64 { return o.turn<<32 | uint64(o.index) }

// putFar sends to another process, if there is room.
func (p *Port) putFar(o *op) bool {
	if o.kind == opAsk || o.kind == opAnswer {
		return p.putHead(o)
	}
	e := &o.node().Envelope
	how, err := p.far.port.Send(int(e.Peer), e.Context, e.Tag, o.buf, o.handle())
	switch {
	case err != nil:
		o.complete(peerGone)
	case how == carrier.Full:
		return false
	case how == carrier.Done:
		o.complete(fine)
	default:
		o.underWay() // its peer may read the buffer at any time from now on
	}
	return true
}

// progressFar handles what has come from other processes.
func (p *Port) progressFar() (moved bool) {
	e := &p.far.event
	for range cellsAtOnce {
		if !p.far.port.Poll(e) {
			break
		}
		moved = true
		switch e.Kind {
		case carrier.Arrived:
			if e.Cell.Tag != AnyTag { // a port sends no such: a broken peer's would be taken for a wildcard
				p.arrive(&e.Cell)
			}
		case carrier.Sent, carrier.Received:
			p.endFar(e)
		case carrier.Gone:
			p.forsakeAll(int32(e.First), int32(e.First+e.Ranks))
			p.loseAll(int32(e.First), int32(e.First+e.Ranks))
		}
	}
	return moved
}

// fetch brings the message that a cell from another process stands for to a receive.
func (p *Port) fetch(c *ring.Cell, o *op) {
	o.underWay()
	done, err := p.far.port.Fetch(c, o.buf, o.handle())
	if err != nil {
		o.outcome = peerGone
	}
	if done {
		o.complete(o.outcome)
	}
}

// endFar ends the op that an event is about, unless it has ended with the fabric.
func (p *Port) endFar(e *carrier.Event) {
	o := p.ops.at(uint32(e.Handle))
	if o.handle() != e.Handle || !o.is(matched) {
		return
	}
	switch o.kind {
	case opCall:
		p.pulled(o, e.Lost)
		return
	case opAsk, opAnswer, opComing:
		p.endFarAccess(o, e)
		return
	}
	switch {
	case e.Lost:
		o.complete(peerGone)
	case e.Kind == carrier.Sent:
		o.complete(fine)
	default:
		o.complete(o.outcome)
	}
}

// abandon ends an op that is on the way to or from another process, as the fabric
// closes. What its peer does meanwhile ends with the carrier.
func (p *Port) abandon(o *op) {
	if p.far != nil && o.is(matched) && p.fabric.peers[o.source].port == nil {
		p.unqueue(o)
		o.complete(closed)
	}
}

// isGone tells whether a source is gone, and nothing of it is to come. It is of the inner half.
func (p *Port) isGone(source int32) bool {
	return p.far != nil && source != AnySource && p.far.port.Gone(int(source))
}

// forsake ends a posted receive whose source is gone.
func (p *Port) forsake(o *op) {
	if p.isGone(o.node().Peer) && p.matcher.Cancel(o.index) {
		o.complete(peerGone)
	}
}

// forsakeAll ends the posted receives whose sources are the ranks from first on, before end, which are gone.
func (p *Port) forsakeAll(first, end int32) {
	p.lost.Store(true)
	p.matcher.TakeReceives(first, end, func(i uint32) { p.ops.at(i).complete(peerGone) })
}

// roomPause is how long a port sleeps that has sends waiting for room, of which
// nobody tells it.
const roomPause = 100 * time.Microsecond

// rest passes the time of a thread whose poll moved nothing and that waits for o. The
// only user of a port that spans processes sleeps in the kernel when it has polled for
// a while: whoever puts a cell into its inbox or a track, or completes its ops, wakes it.
func (p *Port) rest(w *waiter, o *op) {
	if p.far == nil || p.model != Private || p.worker != nil || w.polls < p.fabric.spins+yields {
		p.idle(w)
		return
	}
	since := p.far.port.Doze()
	if p.poll(o) || o.ended() || p.fabric.closed.Load() {
		p.far.port.Rouse()
		return
	}
	limit := time.Duration(0)
	if p.lanes != nil {
		limit = roomPause
	}
	p.far.port.Sleep(since, limit)
}

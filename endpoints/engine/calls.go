// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

// A call is an active message that has come: an op whose cell stands for it. It waits until a
// thread has given up the inner half, for the handler calls the port like any other code. One
// thread at a time runs handlers, so that they keep their order.

// calls are those of a port. They are of the inner half, but for the count.
type calls struct {
	ready   opQueue
	count   atomic.Int32       // of those ready
	running bool               // some thread runs one
	late    map[int32]*opQueue // by source, from the first call on whose data a carrier is bringing still
	data    []byte             // of the call that runs, if its carrier had them
}

// An opQueue is first in, first out.
type opQueue struct{ first, last *op }

func (q *opQueue) push(o *op) {
	o.next = nil
	if q.first == nil {
		q.first = o
	} else {
		q.last.next = o
	}
	q.last = o
}

func (q *opQueue) pop() *op {
	o := q.first
	if o != nil {
		q.first = o.next
	}
	return o
}

// called keeps an active message. It is of the inner half.
func (p *Port) called(c *ring.Cell) {
	if isOwn(c.Tag) && p.far != nil {
		p.accessed(c)
		return
	}
	a := p.ops.get()
	a.kind, a.outcome = opCall, fine
	a.hold(c)
	late := p.calls.late[c.Source]
	if c.Kind == carrier.Offer && !p.pull(a) && late == nil {
		late = new(opQueue)
		if p.calls.late == nil {
			p.calls.late = map[int32]*opQueue{}
		}
		p.calls.late[c.Source] = late
	}
	if late == nil {
		p.addCall(a)
	} else {
		late.push(a)
	}
}

func (p *Port) addCall(a *op) {
	p.calls.ready.push(a)
	p.calls.count.Add(1)
}

// pull fetches the data of a call that is only offered, and tells whether that is over.
func (p *Port) pull(a *op) (over bool) {
	n := lengthOf(&a.cell)
	if n > MaxInvoke { // no port sends such
		a.outcome = cancelled
		n = 0
	}
	a.buf = make([]byte, n)
	a.underWay()
	over, err := p.far.port.Fetch(&a.cell, a.buf, a.handle())
	if err != nil {
		a.outcome = peerGone
	}
	if over {
		a.decide(a.turn, done)
	}
	return over
}

// pulled ends what pull began: the call, and those behind it, are ready.
func (p *Port) pulled(a *op, lost bool) {
	if lost {
		a.outcome = peerGone
	}
	a.decide(a.turn, done)
	source := a.cell.Source
	late := p.calls.late[source]
	for late.first != nil && !late.first.is(matched) {
		p.addCall(late.pop())
	}
	if late.first == nil {
		delete(p.calls.late, source)
	}
}

// runCalls runs handlers whose messages have come, unless another thread does, and tells whether
// it ran any. The caller does not own the inner half.
func (p *Port) runCalls() bool { return p.calls.count.Load() > 0 && p.runSome() }

func (p *Port) runSome() (ran bool) {
	e := p.enter()
	var a *op
	if !p.calls.running {
		a = p.nextCall()
	}
	p.leave(e)
	for n := 1; a != nil; n++ {
		call := a.kind == opCall // afterwards an op that has ended may be another operation
		p.run(a)
		ran = true
		e = p.enter()
		if call {
			p.endCall(a)
		}
		p.calls.running, a = false, nil
		if n < cellsAtOnce {
			a = p.nextCall()
		}
		p.leave(e)
	}
	return ran
}

// stopCalls ends a call whose handler is not here, or has not returned.
func (p *Port) stopCalls(a *op) {
	e := p.enter()
	p.endCall(a)
	p.calls.running = false
	p.leave(e)
}

// run runs the handler of a call, or hands over the end of an op.
func (p *Port) run(a *op) {
	if a.kind != opCall {
		p.handOver(a)
		return
	}
	e := Envelope{Context: a.cell.Context, Peer: a.cell.Source, Tag: handlerOf(a.cell.Tag)}
	if !p.hasHandler(e.Tag) {
		p.stopCalls(a)
		panic(fmt.Sprintf("port %d: port %d invokes handler %d, which is not here: give all processes the same Options.Handlers", p.rank, e.Peer, e.Tag))
	}
	returned := false
	defer func() {
		if returned {
			return
		}
		p.stopCalls(a) // who recovers may go on, with the next handler
		if what := recover(); what != nil {
			panic(fmt.Sprintf("port %d: handler %d, invoked by port %d: %v", p.rank, e.Tag, e.Peer, what))
		}
	}()
	p.fabric.options.Handlers[e.Tag](p, e, a.buf)
	returned = true
}

// nextCall takes the next call whose message is not cancelled or lost, with its data in its buf.
func (p *Port) nextCall() *op {
	for !p.fabric.closed.Load() {
		a := p.calls.ready.pop()
		if a == nil {
			return nil
		}
		p.calls.count.Add(-1)
		if p.bring(a) {
			p.calls.running = true
			return a
		}
		p.ops.put(a)
	}
	return nil
}

// bring makes a call's buf its data.
func (p *Port) bring(a *op) bool {
	if a.kind != opCall {
		return true
	}
	c := &a.cell
	switch c.Kind {
	case cellShort:
		a.buf = c.Inline[:c.Length]
	case cellPacket:
		a.buf = p.fabric.packets.Data(binary.LittleEndian.Uint32(c.Inline[:]))[:c.Length]
	case cellAsk: // the handler reads the sender's buffer
		s := p.opOf(c)
		if !s.take(turnOf(c)) {
			return false
		}
		s.underWay()
		a.buf = s.buf
	case carrier.Inline:
		p.drop(c)
		a.buf = c.Inline[:c.Length]
	case carrier.Kept:
		p.calls.data = slices.Grow(p.calls.data[:0], int(c.Length))[:c.Length]
		a.buf = p.calls.data
		_, err := p.far.port.Fetch(c, a.buf, 0)
		return err == nil
	}
	return a.outcome == fine
}

// endCall gives back what a call that has run had.
func (p *Port) endCall(a *op) {
	switch c := &a.cell; c.Kind {
	case cellPacket:
		p.fabric.packets.Put(p.index(), binary.LittleEndian.Uint32(c.Inline[:]))
	case cellAsk:
		s := p.opOf(c)
		s.complete(fine)
		p.fabric.peers[c.Source].wake()
	}
	p.ops.put(a)
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"

	"github.com/tpsl/tpsl/endpoints/engine/match"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

// What a cell is.
const (
	cellShort = iota // a message whose payload is in the cell
	cellAsk          // a large message: the payload is in the buffer of an op of the sender
)

// cellsAtOnce bounds one call of progress.
const cellsAtOnce = 16

// execute runs a posted op. It is of the inner half.
func (p *Port) execute(o *op) {
	if o.kind == opSend {
		p.send(o)
	} else {
		p.receive(o)
	}
}

// progress handles what has come and sends what waits for room, and tells whether
// there was anything. It is of the inner half.
func (p *Port) progress() (moved bool) {
	for range cellsAtOnce {
		c := p.inbox.Front()
		if c == nil {
			break
		}
		p.arrive(c)
		p.inbox.Pop()
		moved = true
	}
	if p.lanes != nil && p.flush() {
		moved = true
	}
	return moved
}

// send puts an op into the destination's inbox, or behind those that wait for room there.
func (p *Port) send(o *op) {
	if p.lanes != nil && p.queue(o) {
		return
	}
	if !p.put(o) {
		p.open(o)
	}
}

// put fills in one cell for a send, if the destination has room.
func (p *Port) put(o *op) bool {
	e := &o.node().Envelope
	c, turn := p.fabric.peers[e.Peer].inbox.Claim()
	if c == nil {
		return false
	}
	c.Context, c.Source, c.Tag = e.Context, p.rank, e.Tag
	if len(o.buf) <= ring.Inline {
		c.Kind, c.Length = cellShort, uint32(len(o.buf))
		copy(c.Inline[:], o.buf)
		c.Publish(turn)
		o.complete(fine)
		return true
	}
	c.Kind, c.Length = cellAsk, o.index
	binary.LittleEndian.PutUint64(c.Inline[0:], o.turn)
	binary.LittleEndian.PutUint64(c.Inline[8:], uint64(len(o.buf)))
	c.Publish(turn)
	return true
}

// receive matches a posted receive with the unexpected messages. A send that was
// cancelled meanwhile is no message.
func (p *Port) receive(o *op) {
	for {
		i := p.matcher.Post(o.index)
		if i == match.None {
			return
		}
		a := p.ops.at(i)
		taken := p.take(&a.cell)
		if taken {
			p.deliver(o, &a.cell)
		}
		p.ops.put(a)
		if taken {
			return
		}
	}
}

// arrive matches a message with the posted receives.
func (p *Port) arrive(c *ring.Cell) {
	if !p.take(c) {
		return
	}
	a := p.arrival
	n := a.node()
	n.Envelope = Envelope{Context: c.Context, Peer: c.Source, Tag: c.Tag}
	p.arrived++
	n.Number = p.arrived
	if i := p.matcher.Arrive(a.index); i != match.None {
		p.deliver(p.ops.at(i), c)
		return
	}
	a.kind = opArrival
	a.cell.Kind, a.cell.Context, a.cell.Source, a.cell.Tag = c.Kind, c.Context, c.Source, c.Tag
	a.cell.Length, a.cell.Inline = c.Length, c.Inline
	if c.Kind == cellAsk {
		p.sender(c).untake(turnOf(c))
	}
	p.arrival = p.ops.get()
}

// take makes sure that the message in a cell is not cancelled while it is handled.
func (p *Port) take(c *ring.Cell) bool {
	return c.Kind != cellAsk || p.sender(c).take(turnOf(c))
}

// sender returns the op that a cell asks for, and turnOf its turn.
func (p *Port) sender(c *ring.Cell) *op {
	return p.fabric.peers[c.Source].port.ops.at(c.Length)
}

func turnOf(c *ring.Cell) uint64 { return binary.LittleEndian.Uint64(c.Inline[0:]) }

// lengthOf returns the bytes of the message in a cell.
func lengthOf(c *ring.Cell) int {
	if c.Kind == cellAsk {
		return int(binary.LittleEndian.Uint64(c.Inline[8:]))
	}
	return int(c.Length)
}

// deliver brings the message in a cell, which was taken, to a receive.
func (p *Port) deliver(o *op, c *ring.Cell) {
	o.source, o.tag = c.Source, c.Tag
	if c.Kind == cellAsk {
		s := p.sender(c)
		o.bytes = copy(o.buf, s.buf)
		s.complete(fine)
	} else {
		o.bytes = copy(o.buf, c.Inline[:c.Length])
	}
	how := fine
	if o.bytes < lengthOf(c) {
		how = truncated
	}
	o.complete(how)
}

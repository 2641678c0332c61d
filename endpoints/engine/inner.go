// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"

	"github.com/tpsl/tpsl/endpoints/engine/match"
	"github.com/tpsl/tpsl/endpoints/engine/packet"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
	"github.com/tpsl/tpsl/endpoints/engine/shm"
)

// What a cell is.
const (
	cellShort  = iota // a message whose payload is in the cell
	cellPacket        // a message whose payload is in the packet that the cell names
	cellAsk           // a large message: the payload is in the buffer of an op of the sender
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
	if p.far != nil && p.progressFar() {
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

// put fills in one cell for a send, if the destination has room. A message for which
// no packet is free goes as a large one does.
func (p *Port) put(o *op) bool {
	e := &o.node().Envelope
	to := &p.fabric.peers[e.Peer]
	if to.port == nil {
		return p.putFar(o)
	}
	c, turn := to.inbox.Claim()
	if c == nil {
		return false
	}
	c.Context, c.Source, c.Tag = e.Context, p.rank, e.Tag
	switch n := len(o.buf); {
	case n <= ring.Inline:
		c.Kind, c.Length = cellShort, uint32(n)
		copy(c.Inline[:], o.buf)
	case n <= p.fabric.options.Eager && p.pack(c, o.buf):
	default:
		c.Kind, c.Length = cellAsk, o.index
		binary.LittleEndian.PutUint64(c.Inline[0:], o.turn)
		binary.LittleEndian.PutUint64(c.Inline[8:], uint64(n))
		c.Publish(turn)
		to.wake()
		return true
	}
	c.Publish(turn)
	to.wake()
	o.complete(fine)
	return true
}

// pack puts a message into a packet, if one is free.
func (p *Port) pack(c *ring.Cell, data []byte) bool {
	i := p.fabric.packets.Get(int(p.rank) - p.fabric.first)
	if i == packet.None {
		return false
	}
	c.Kind, c.Length = cellPacket, uint32(len(data))
	binary.LittleEndian.PutUint32(c.Inline[:], i)
	copy(p.fabric.packets.Data(i), data)
	return true
}

// unpack copies a message out of its packet and gives that back.
func (p *Port) unpack(c *ring.Cell, buf []byte) {
	i := binary.LittleEndian.Uint32(c.Inline[:])
	copy(buf, p.fabric.packets.Data(i)[:c.Length])
	p.fabric.packets.Put(int(p.rank)-p.fabric.first, i)
}

// receive matches a posted receive with the unexpected messages. A send that was
// cancelled meanwhile is no message.
func (p *Port) receive(o *op) {
	for {
		i := p.matcher.Post(o.index)
		if i == match.None {
			if p.far != nil {
				p.forsake(o)
			}
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
		p.sender(c).decide(turnOf(c), pending)
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
	if c.Kind >= shm.FirstCell {
		return shm.Bytes(c)
	}
	return int(c.Length)
}

// deliver brings the message in a cell, which was taken, to a receive.
func (p *Port) deliver(o *op, c *ring.Cell) {
	o.source, o.tag = c.Source, c.Tag
	o.bytes, o.outcome = lengthOf(c), fine
	if o.bytes > len(o.buf) {
		o.bytes, o.outcome = len(o.buf), truncated
	}
	switch c.Kind {
	case cellShort:
		copy(o.buf, c.Inline[:o.bytes])
	case cellPacket:
		p.unpack(c, o.buf)
	case cellAsk:
		p.transfer(p.sender(c), o)
		return
	default:
		p.fetch(c, o)
		return
	}
	o.complete(o.outcome)
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/match"
	"github.com/tpsl/tpsl/endpoints/engine/packet"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

// What a cell is.
const (
	cellShort  = iota // a message whose payload is in the cell
	cellPacket        // a message whose payload is in the packet that the cell names
	cellAsk           // a large message: the payload is in the buffer of the sender's op
	cellReady         // no message: the receiver's op waits for a large one
	cellLast          // as cellShort, of the last message of a run from another process; its last byte is the run's length
)

// cellsAtOnce bounds one call of progress.
const cellsAtOnce = 16

// execute runs a posted op. It is of the inner half.
func (p *Port) execute(o *op) {
	switch {
	case o.kind == opReceive:
		p.receive(o)
	case len(o.buf) > p.fabric.options.Eager && p.unique(o) && !isActive(o.node().Tag):
		p.offer(o)
	default:
		p.send(o)
	}
}

// progress handles what has come and sends what waits for room, and tells whether
// there was anything. It is of the inner half.
func (p *Port) progress() (moved bool) {
	if p.far != nil && p.fabric.closed.Load() {
		return false // its carrier may be closed, too
	}
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
	if p.ends.top.Load() != nil {
		p.takeEnds()
		moved = true
	}
	return moved
}

// send puts an op's cell into its peer's inbox, or behind those that wait for room there.
func (p *Port) send(o *op) {
	if p.lanes != nil && p.queue(o) {
		return
	}
	if !p.put(o) {
		p.open(o)
	}
}

// put fills in the cell of an op, if its peer has room. A message for which no packet is
// free goes as a large one does.
func (p *Port) put(o *op) bool {
	e := &o.node().Envelope
	to := &p.fabric.peers[e.Peer]
	if to.port == nil {
		return p.putFar(o)
	}
	if len(o.buf) <= ring.Inline && o.kind == opSend {
		if !p.putShort(to, e, o.buf) {
			return false
		}
		o.end(fine)
		return true
	}
	c, turn := to.inbox.Claim()
	if c == nil {
		return false
	}
	c.Context, c.Source, c.Tag = e.Context, p.rank, e.Tag
	packed := false
	switch {
	case o.kind == opReceive:
		p.stats.readies.Add(1)
		name(c, cellReady, o)
	case len(o.buf) <= p.fabric.options.Eager && p.pack(c, o.buf):
		packed = true
	default:
		p.stats.asks.Add(1)
		name(c, cellAsk, o)
	}
	c.Publish(turn)
	to.wake()
	if packed {
		o.end(fine)
	}
	return true
}

// putShort fills in the cell of a message that fits into it, if the peer has room.
func (p *Port) putShort(to *peer, e *Envelope, data []byte) bool {
	c, turn := to.inbox.Claim()
	if c == nil {
		return false
	}
	c.Kind, c.Context, c.Source, c.Tag, c.Length = cellShort, e.Context, p.rank, e.Tag, uint32(len(data))
	copy(c.Inline[:], data)
	if to.bell == nil && to.worker == nil {
		c.PublishUnfenced(turn)
	} else {
		c.Publish(turn)
		to.wake()
	}
	return true
}

// name makes a cell name an op of this port, in its present turn.
func name(c *ring.Cell, kind uint32, o *op) {
	c.Kind, c.Length = kind, o.index
	binary.LittleEndian.PutUint64(c.Inline[0:], o.turn)
	binary.LittleEndian.PutUint64(c.Inline[8:], uint64(len(o.buf)))
}

// opOf returns the op of a peer that a cell names, and turnOf its turn.
func (p *Port) opOf(c *ring.Cell) *op { return p.fabric.peers[c.Source].port.ops.at(c.Length) }
func turnOf(c *ring.Cell) uint64      { return binary.LittleEndian.Uint64(c.Inline[0:]) }

// pack puts a message into a packet, if one is free.
func (p *Port) pack(c *ring.Cell, data []byte) bool {
	i := p.fabric.packets.Get(p.index())
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
	p.fabric.packets.Put(p.index(), i)
}

// receive matches a posted receive with the unexpected messages. A send that was
// cancelled meanwhile is no message.
func (p *Port) receive(o *op) {
	for {
		i := p.matcher.Post(o.index)
		if i == match.None {
			p.announce(o)
			return
		}
		a := p.ops.at(i)
		took := p.take(&a.cell)
		if took {
			p.deliver(o, &a.cell)
		}
		p.ops.put(a)
		if took {
			return
		}
	}
}

// arrive matches a message with the posted receives.
func (p *Port) arrive(c *ring.Cell) {
	if c.Kind == cellReady {
		p.ready(c)
		return
	}
	if isActive(c.Tag) {
		if c.Tag == tagRun {
			p.arriveRun(c)
		} else {
			p.called(c)
		}
		return
	}
	if !p.take(c) {
		return
	}
	a := p.stand(c)
	if p.beside { // another thread may have it as soon as it waits
		a.hold(c)
	}
	for {
		i := p.matcher.Arrive(a.index)
		if i == match.None {
			break
		}
		if o := p.ops.at(i); o.mine() {
			p.deliver(o, c)
			return
		}
	}
	p.keep(a, c)
	p.untake(c)
}

// stand returns the op that stands for what has come.
func (p *Port) stand(c *ring.Cell) *op {
	a := p.arrival
	n := a.node()
	n.Envelope = Envelope{Context: c.Context, Peer: c.Source, Tag: c.Tag}
	p.arrived++
	n.Number = p.arrived
	return a
}

// keep keeps what has come, which waits in a matcher, as its cell is needed again.
func (p *Port) keep(a *op, c *ring.Cell) {
	if !p.beside {
		a.hold(c)
	}
	p.renewArrival()
}

// renewArrival takes an op that is to stand for the next message.
func (p *Port) renewArrival() {
	p.arrival = p.ops.get()
	p.arrival.kind = opArrival
}

// hold copies a cell into the op.
func (o *op) hold(c *ring.Cell) {
	o.cell.Kind, o.cell.Context, o.cell.Source, o.cell.Tag = c.Kind, c.Context, c.Source, c.Tag
	o.cell.Length, o.cell.Inline = c.Length, c.Inline
}

// take makes sure that the message in a cell is not cancelled while it is handled.
func (p *Port) take(c *ring.Cell) bool {
	return c.Kind != cellAsk || p.opOf(c).take(turnOf(c))
}

// untake lets the message in a cell, which was taken, be cancelled again.
func (p *Port) untake(c *ring.Cell) {
	if c.Kind == cellAsk {
		p.opOf(c).decide(turnOf(c), pending)
	}
}

// lengthOf returns the bytes of the message in a cell.
func lengthOf(c *ring.Cell) int {
	if c.Kind == cellAsk {
		return int(binary.LittleEndian.Uint64(c.Inline[8:]))
	}
	if c.Kind >= carrier.FirstCell {
		return carrier.Bytes(c)
	}
	return int(c.Length)
}

// deliver brings the message in a cell, which was taken, to a receive.
func (p *Port) deliver(o *op, c *ring.Cell) {
	o.source, o.tag = c.Source, c.Tag
	if c.Kind == cellAsk {
		p.transfer(o, p.opOf(c))
		return
	}
	o.bytes, o.outcome = lengthOf(c), fine
	if o.bytes > len(o.buf) {
		o.bytes, o.outcome = len(o.buf), truncated
	}
	switch c.Kind {
	case cellShort, cellLast:
		copy(o.buf, c.Inline[:o.bytes])
		if c.Kind == cellLast {
			p.dropRun(c)
		}
	case cellPacket:
		p.unpack(c, o.buf)
	default:
		p.fetch(c, o)
		return
	}
	o.end(o.outcome)
}

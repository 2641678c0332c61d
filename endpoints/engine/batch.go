// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"
	"fmt"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/packet"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

// Operations of a batch, which one call starts, share what each would pay alone: receives are posted in one step of the
// matcher, and short messages travel as runs.

// A run is one message, of the engine's own, for messages of one envelope and one length:
//
//	their tag, their length in bytes, both in four bytes; then one after the other
//
// Within a process it is in a packet, or in a cell if it fits there. To another process it is always in a cell. A carrier takes
// that at once or not at all, and brings it at once, so later messages do not overtake it.
const (
	tagRun     = tagData + 1
	runHead    = 8
	longestRun = 32 // a longer one would have its receiver wait until all is packed
	longestFar = 4  // to another process: its carrier counts one cell, and each message takes an op until it is received
)

// batchStep bounds the receives of one step.
const batchStep = 64

// IsendAll starts to send each of bufs under the same envelope, in this order, as Isend does, with a request for each. On a
// port of model Private this takes less time than calls of Isend where messages of one length follow one another: of up to 40
// bytes within a process, of up to 16 to another. If it returns an error, nothing was started.
func (p *Port) IsendAll(bufs [][]byte, e Envelope, requests []Request) error {
	if err := p.checkBatch(bufs, e, false, requests); err != nil {
		return err
	}
	for len(bufs) > 0 {
		n := p.sendRun(bufs, &e)
		for i := range n {
			o := p.prepare(opSend, bufs[i], &e)
			o.node().Context = e.Context
			o.end(fine)
			requests[i] = Request{o, o.turn}
		}
		if n == 0 {
			n, requests[0] = 1, p.launch(p.prepare(opSend, bufs[0], &e), &e)
		}
		bufs, requests = bufs[n:], requests[n:]
	}
	return nil
}

// IrecvAll starts to receive into each of bufs under the same envelope, in this order, as Irecv does, with a request for
// each. On a port of model Private this takes less time than calls of Irecv. If it returns an error, nothing was started.
func (p *Port) IrecvAll(bufs [][]byte, e Envelope, requests []Request) error {
	if err := p.checkBatch(bufs, e, true, requests); err != nil {
		return err
	}
	for len(bufs) > 0 {
		n := min(len(bufs), batchStep)
		if p.model == Private {
			p.receiveAll(bufs[:n], &e, requests)
		} else {
			for i := range n {
				requests[i] = p.launch(p.prepare(opReceive, bufs[i], &e), &e)
			}
		}
		bufs, requests = bufs[n:], requests[n:]
	}
	return nil
}

func (p *Port) checkBatch(bufs [][]byte, e Envelope, wildcards bool, requests []Request) error {
	if len(requests) < len(bufs) {
		return fmt.Errorf("port %d: room for %d requests of %d messages", p.rank, len(requests), len(bufs))
	}
	return p.check(e, wildcards)
}

// receiveAll posts receives, at most those of one step, on a port with one owner.
func (p *Port) receiveAll(bufs [][]byte, e *Envelope, requests []Request) {
	var indices [batchStep]uint32
	t := p.thread()
	for i, buf := range bufs {
		o := p.prepare(opReceive, buf, e)
		o.node().Envelope = *e
		o.begin()
		if t != nil {
			o.bit = t.Bit()
		}
		indices[i], requests[i] = o.index, Request{o, o.turn}
	}
	wait := p.matcher.PostAll(indices[:len(bufs)])
	for i := range bufs {
		if o := p.ops.at(indices[i]); i < wait {
			p.announce(o)
		} else {
			p.receive(o)
		}
	}
}

// sendRun sends the first of bufs as a run, and returns how many; none if they make no run, or there is no room.
func (p *Port) sendRun(bufs [][]byte, e *Envelope) int {
	size := len(bufs[0])
	if p.model != Private || p.lanes != nil || p.fabric.options.Unique || size == 0 || size > ring.Inline {
		return 0
	}
	n, most := 1, min(len(bufs), longestRun)
	for n < most && len(bufs[n]) == size {
		n++
	}
	if n < 2 {
		return 0
	}
	to, inCell := &p.fabric.peers[e.Peer], min(n, (ring.Inline-runHead)/size)
	if to.port == nil {
		return p.sendRunFar(bufs[:min(inCell, longestFar)], e)
	}
	if n > inCell && runHead+n*size <= p.fabric.options.Eager && p.sendPacked(to, bufs[:n], e) {
		return n
	}
	if inCell < 2 {
		return 0
	}
	c, turn := to.inbox.Claim()
	if c == nil {
		return 0
	}
	c.Kind, c.Context, c.Source, c.Tag = cellShort, e.Context, p.rank, tagRun
	c.Length = fillRun(c.Inline[:], bufs[:inCell], e.Tag)
	c.Publish(turn)
	to.wake()
	return inCell
}

// sendPacked sends a run in a packet, if one is free and there is room.
func (p *Port) sendPacked(to *peer, bufs [][]byte, e *Envelope) bool {
	i := p.fabric.packets.Get(p.index())
	if i == packet.None {
		return false
	}
	c, turn := to.inbox.Claim()
	if c == nil {
		p.fabric.packets.Put(p.index(), i)
		return false
	}
	c.Kind, c.Context, c.Source, c.Tag = cellPacket, e.Context, p.rank, tagRun
	c.Length = fillRun(p.fabric.packets.Data(i), bufs, e.Tag)
	binary.LittleEndian.PutUint32(c.Inline[:], i)
	c.Publish(turn)
	to.wake()
	return true
}

// sendRunFar is sendRun to another process.
func (p *Port) sendRunFar(bufs [][]byte, e *Envelope) int {
	if len(bufs) < 2 {
		return 0
	}
	run := p.piece.Inline[:]
	how, err := p.far.port.Send(int(e.Peer), e.Context, tagRun, run[:fillRun(run, bufs, e.Tag)], 0)
	if err != nil || how != carrier.Done {
		return 0
	}
	return len(bufs)
}

// fillRun writes a run, and returns its bytes.
func fillRun(run []byte, bufs [][]byte, tag int32) uint32 {
	binary.LittleEndian.PutUint32(run[0:], uint32(tag))
	binary.LittleEndian.PutUint32(run[4:], uint32(len(bufs[0])))
	at := runHead
	for _, b := range bufs {
		at += copy(run[at:], b)
	}
	return uint32(at)
}

// arriveRun matches the messages of a run. It is of the inner half.
func (p *Port) arriveRun(c *ring.Cell) {
	switch c.Kind {
	case cellShort:
		p.arriveEach(c, c.Inline[:c.Length])
	case cellPacket:
		i := binary.LittleEndian.Uint32(c.Inline[:])
		p.arriveEach(c, p.fabric.packets.Data(i)[:c.Length])
		p.fabric.packets.Put(p.index(), i)
	default:
		if c.Kind == carrier.Inline && isRun(c.Inline[:c.Length]) {
			p.arriveEach(c, c.Inline[:c.Length])
		} else {
			p.drop(c) // no port sends such
		}
	}
}

// isRun tells whether what another process sent is a run.
func isRun(run []byte) bool {
	if len(run) <= runHead || int32(binary.LittleEndian.Uint32(run[0:])) < 0 {
		return false
	}
	size, bytes := uint64(binary.LittleEndian.Uint32(run[4:])), uint64(len(run)-runHead)
	return size > 0 && bytes%size == 0 && bytes/size <= longestFar
}

// arriveEach matches the messages of the run that came in a cell: what the matcher can in one step, and then each.
func (p *Port) arriveEach(c *ring.Cell, run []byte) {
	e := Envelope{Context: c.Context, Peer: c.Source, Tag: int32(binary.LittleEndian.Uint32(run[0:]))}
	size, messages := int(binary.LittleEndian.Uint32(run[4:])), run[runHead:]
	var receives [longestRun]uint32
	n := p.matcher.ArriveAll(e, receives[:len(messages)/size])
	if n*size == len(messages) && c.Kind == carrier.Inline {
		p.drop(c)
	}
	for _, i := range receives[:n] {
		p.deliverShort(p.ops.at(i), e.Peer, e.Tag, messages[:size])
		messages = messages[size:]
	}
	for ; len(messages) > 0; messages = messages[size:] {
		s := &p.piece
		s.Kind, s.Context, s.Source, s.Tag, s.Length = cellShort, e.Context, e.Peer, e.Tag, uint32(size)
		copy(s.Inline[:], messages[:size])
		if len(messages) == size && c.Kind == carrier.Inline {
			s.Kind, s.Inline[len(s.Inline)-1] = cellLast, byte(len(run))
		}
		p.arrive(s)
	}
}

// deliverShort copies a short message into a receive.
func (p *Port) deliverShort(o *op, source, tag int32, message []byte) {
	o.source, o.tag = source, tag
	o.bytes, o.outcome = copy(o.buf, message), fine
	if o.bytes < len(message) {
		o.outcome = truncated
	}
	o.end(o.outcome)
}

// dropRun gives a run back to its carrier, whose last message was in the cell.
func (p *Port) dropRun(c *ring.Cell) {
	c.Kind, c.Length = carrier.Inline, uint32(c.Inline[len(c.Inline)-1])
	p.drop(c)
}

// index returns the port's number among those of its process.
func (p *Port) index() int { return int(p.rank) - p.fabric.first }

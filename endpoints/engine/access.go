// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"
	"math"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

// Accesses between processes. The one side asks, the other answers: each by a head, which is a short message of five
// words, and the data of a put or a get in a message of their own right behind it, which no
// other message of the two ports comes between. So the data go from buffer to buffer as a carrier
// can, and where they go is known when they come.
//
//	ask     which region, offset, length or first operand, the asker's key, second operand
//	answer  the asker's key, outcome, what the word was
//
// What a head says is checked, for a peer may be broken.

// The tags of these messages, below those of handlers: of an ask the first one and its kind.
const (
	tagAsk    = math.MinInt32
	tagAnswer = tagAsk + accessKinds
	tagData   = tagAnswer + 1
)

// isOwn tells whether a message, which is active, is the engine's own.
func isOwn(tag int32) bool { return tag <= tagData }

// A head is the five words of the first message of an ask or an answer. An op keeps it as its cell's payload.
type head [5]uint64

func headIn(c *ring.Cell) (h head) {
	for i := range h {
		h[i] = carrier.Word(c, i)
	}
	return h
}

func (o *op) setHead(h head) {
	for i, w := range h {
		o.setHeadWord(i, w)
	}
	o.stage, o.missing = headToSend, 0
}

func (o *op) setHeadWord(i int, w uint64) {
	binary.LittleEndian.PutUint64(o.cell.Inline[wordSize*i:], w)
}

// askersKey returns the key of the asker, of an ask.
func (o *op) askersKey() uint64 { return carrier.Word(&o.cell, 3) }

// A stage is how far an ask or an answer is.
type stage uint8

const (
	headToSend stage = iota
	dataToSend
	sent
)

// ask starts an access of another process's region.
func (p *Port) ask(a *access) Request {
	o := p.ops.get()
	o.kind, o.outcome, o.buf = opAsk, fine, a.buf
	o.source, o.tag, o.bytes = int32(a.key.rank()), 0, int(a.length())
	if !isOfWord(a.kind) {
		a.operands[0] = a.length()
	}
	o.setHead(head{a.key.id(), uint64(a.offset), a.operands[0], 0, a.operands[1]})
	o.goesInto(a.notice)
	return p.launch(o, &Envelope{Context: a.context, Peer: o.source, Tag: tagAsk + a.kind})
}

// hasData tells whether data follow the head.
func (o *op) hasData() bool {
	tag := o.node().Tag
	return tag == tagAsk+accessPut || tag == tagAsk+accessPutSignal || tag == tagAnswer && o.buf != nil
}

// putHead sends the head of an ask or an answer, and what follows it, as far as there is room.
func (p *Port) putHead(o *op) bool {
	if o.stage == headToSend && !p.sendHead(o) {
		return false
	}
	if o.stage == dataToSend {
		how, err := p.far.port.Send(int(o.source), 0, tagData, o.buf, o.handle())
		switch {
		case err != nil:
			p.lose(o)
			return true
		case how == carrier.Full:
			return false
		case how == carrier.Pending:
			o.missing++ // the carrier has the buffer
		}
		o.stage = sent
	}
	p.endHead(o)
	return true
}

// sendHead sends a head, if there is room. From then on the op cannot be cancelled.
func (p *Port) sendHead(o *op) bool {
	e := &o.node().Envelope
	if o.kind == opAsk {
		key, asked := p.far.asked.Take()
		*asked = o
		o.setHeadWord(3, key)
	}
	how, err := p.far.port.Send(int(e.Peer), e.Context, e.Tag, o.cell.Inline[:], 0)
	switch {
	case err != nil:
		o.outcome = peerGone
		p.forget(o)
	case how == carrier.Full:
		p.forget(o)
		return false
	case o.kind == opAsk:
		o.missing++ // the answer
	}
	o.underWay()
	o.stage = sent
	if err == nil && o.hasData() {
		o.stage = dataToSend
	}
	return true
}

// forget tells whether an ask waited for its answer, and has it wait no more.
func (p *Port) forget(o *op) bool {
	if o.kind != opAsk || p.far.asked.Find(o.askersKey()) == nil {
		return false
	}
	p.far.asked.Drop(o.askersKey())
	return true
}

// endHead ends an ask or an answer if nothing is missing.
func (p *Port) endHead(o *op) {
	if o.missing > 0 {
		return
	}
	if o.kind == opAsk {
		o.complete(o.outcome)
		return
	}
	o.leaveRegion()
	p.ops.put(o)
}

// leaveRegion ends the use of a region.
func (o *op) leaveRegion() {
	if o.region != nil {
		o.region.leave()
		o.region = nil
	}
}

// happened counts one thing less that is missing.
func (p *Port) happened(o *op) {
	o.missing--
	p.endHead(o)
}

// lose ends an ask or an answer whose peer is gone.
func (p *Port) lose(o *op) {
	p.forget(o)
	o.outcome, o.missing = peerGone, 0
	p.endHead(o)
}

// accessed handles a message of an access that has come.
func (p *Port) accessed(c *ring.Cell) {
	if c.Tag == tagData {
		p.dataCame(c)
		return
	}
	if c.Kind != carrier.Inline || c.Length != ring.Inline || p.far.coming[c.Source] != nil {
		p.drop(c) // no port sends such
		return
	}
	p.drop(c) // its carrier wants to know that it is taken
	if h := headIn(c); c.Tag == tagAnswer {
		p.answered(c.Source, h)
	} else {
		p.serveAsk(c, h)
	}
}

// drop gives a message back to its carrier.
func (p *Port) drop(c *ring.Cell) { _, _ = p.far.port.Fetch(c, nil, 0) }

// serveAsk does what another port asks for.
func (p *Port) serveAsk(c *ring.Cell, h head) {
	kind, offset, operands := c.Tag-tagAsk, h[1], [2]uint64{h[2], h[4]}
	length := operands[0]
	if isOfWord(kind) {
		length = wordSize
	}
	r := p.regions.enter(h[0], offset, length)
	if r != nil && (isOfWord(kind) && offset%wordSize != 0 || kind == accessPutSignal && !isHandler(operands[1])) {
		r.leave()
		r = nil
	}
	if kind == accessPut || kind == accessPutSignal {
		o := p.ops.get()
		o.kind, o.outcome, o.region, o.source = opComing, fine, r, c.Source
		o.node().Envelope = Envelope{Context: c.Context, Peer: c.Source, Tag: c.Tag}
		o.setHead(h)
		if r == nil {
			o.outcome = noRegion
		} else {
			o.buf = r.memory[offset:][:length]
		}
		p.expect(o)
		return
	}
	switch {
	case r == nil:
		p.answer(c.Source, h[3], noRegion, 0, nil, nil)
	case kind == accessGet:
		p.answer(c.Source, h[3], fine, 0, r.memory[offset:][:length], r)
	default:
		before := r.change(kind, offset, operands)
		r.leave()
		p.answer(c.Source, h[3], fine, before, nil, nil)
	}
}

// answer sends an answer, with the data of a get, which are of a region.
func (p *Port) answer(to int32, key uint64, how outcome, before uint64, data []byte, r *Region) {
	o := p.ops.get()
	o.kind, o.buf, o.region, o.source = opAnswer, data, r, to
	o.node().Envelope = Envelope{Peer: to, Tag: tagAnswer}
	o.setHead(head{key, uint64(how), before})
	p.send(o)
}

// answered goes on with what this port has asked for.
func (p *Port) answered(source int32, h head) {
	found := p.far.asked.Find(h[0])
	if found == nil || (*found).source != source || (*found).stage != sent {
		return // no port sends such
	}
	o := *found
	p.far.asked.Drop(h[0])
	tag := o.node().Tag
	switch {
	case h[1] != uint64(fine):
		o.outcome = noRegion
	case tag == tagAsk+accessGet:
		p.expect(o)
		return
	case isOfWord(tag - tagAsk):
		storeWord(o.buf, h[2])
	}
	p.happened(o)
}

// expect notes whose data come next from its peer.
func (p *Port) expect(o *op) {
	if p.far.coming == nil {
		p.far.coming = map[int32]*op{}
	}
	p.far.coming[o.source] = o
}

// dataCame fetches data to where the head before them has said.
func (p *Port) dataCame(c *ring.Cell) {
	o := p.far.coming[c.Source]
	if o == nil {
		p.drop(c) // no port sends such
		return
	}
	delete(p.far.coming, c.Source)
	if lengthOf(c) != len(o.buf) {
		o.outcome = noRegion
	}
	if o.kind == opComing { // an ask is under way since its head has left
		o.underWay()
	}
	if over, err := p.far.port.Fetch(c, o.buf, o.handle()); over {
		p.dataThere(o, err != nil)
	}
}

// dataThere ends what dataCame began, or what peers that have gone did not send.
func (p *Port) dataThere(o *op, lost bool) {
	if lost {
		o.outcome = peerGone
	}
	if o.kind == opAsk {
		p.happened(o)
		return
	}
	o.leaveRegion()
	if !lost {
		if e := o.node().Envelope; e.Tag == tagAsk+accessPutSignal && o.outcome == fine {
			p.signal(e, int32(carrier.Word(&o.cell, 4)))
		}
		p.answer(o.source, o.askersKey(), o.outcome, 0, nil, nil)
	}
	p.ops.put(o)
}

// signal has a handler of this port run as if it had been invoked.
func (p *Port) signal(e Envelope, handler int32) {
	a := p.ops.get()
	a.kind, a.outcome = opCall, fine
	a.cell.Kind, a.cell.Context, a.cell.Source, a.cell.Tag, a.cell.Length = cellShort, e.Context, e.Peer, tagOf(handler), 0
	p.addCall(a)
}

// endFarAccess ends what a carrier did for an access: it has sent data, or fetched them.
func (p *Port) endFarAccess(o *op, e *carrier.Event) {
	switch {
	case e.Kind == carrier.Received:
		p.dataThere(o, e.Lost)
	case e.Lost && (o.kind == opAnswer || p.forget(o)):
		p.lose(o)
	default:
		p.happened(o)
	}
}

// loseAll ends the accesses to and from ranks that are gone, from first on, before end.
func (p *Port) loseAll(first, end int32) {
	p.far.asked.Used(func(_ uint64, asked **op) {
		if o := *asked; first <= o.source && o.source < end && o.stage == sent {
			p.lose(o) // one that waits for room hears it from its carrier
		}
	})
	for source, o := range p.far.coming {
		if first <= source && source < end {
			delete(p.far.coming, source)
			p.dataThere(o, true)
		}
	}
}

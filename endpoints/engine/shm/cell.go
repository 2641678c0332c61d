// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

// The kinds of cells in a track beside those of messages, of which Kept names the packet of the
// sender's that holds the message, and Offer has the address of the buffer as its second word.
// What their payload holds, in words:
const (
	cellAsk  = carrier.OwnCells + iota // the offer's key, a key of the receiver's, how many bytes to send in parts
	cellPart                           // the receiver's key, the packet that holds the part
	cellDone                           // the offer's key: the buffer has been read
)

// A control is a cell whose payload is words, before it is sent.
type control struct {
	place
	kind, context uint32
	tag           int32
	length        uint32
	words         [3]uint64
}

// post sends a cell and tells whether there was room.
func (p *Port) post(m *control) bool {
	c, turn := p.node.track(m.place).Claim()
	if c == nil {
		return false
	}
	c.Kind, c.Context, c.Source, c.Tag, c.Length = m.kind, m.context, p.rank, m.tag, m.length
	carrier.SetWords(c, m.words)
	c.Publish(turn)
	p.node.peers[m.process].bells[m.port].Ring()
	return true
}

// answer posts a cell now or, if the track is full, later.
func (p *Port) answer(m control) {
	if p.gone[m.process] || p.post(&m) {
		return
	}
	p.outbox = append(p.outbox, m)
}

// flush posts what waits for room in tracks, and sends parts.
func (p *Port) flush() {
	kept := p.outbox[:0]
	for i := range p.outbox {
		if !p.post(&p.outbox[i]) {
			kept = append(kept, p.outbox[i])
		}
	}
	p.outbox = kept
	still := p.streams[:0]
	for _, index := range p.streams {
		if !p.packets.hasPart() || !p.stream(index) {
			still = append(still, index)
		}
	}
	p.streams = still
}

// snapshot copies a cell that a peer may change while it is looked at.
func snapshot(to, from *ring.Cell) {
	to.Kind, to.Context, to.Source, to.Tag, to.Length, to.Inline = from.Kind, from.Context, from.Source, from.Tag, from.Length, from.Inline
}

// packetIn returns the packet that word i names. A number that is too large stays so.
func packetIn(c *ring.Cell, i int) int { return int(min(carrier.Word(c, i), packetsPer)) }

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import "github.com/tpsl/tpsl/endpoints/engine/ring"

// What a call on a port with one owner can do at once, without an op that waits. Nothing
// else is under way then that it could overtake, so the order is that of the ring.

// isShort tells whether a message may be for sendShort: it fits into a cell, and no earlier send waits.
func (p *Port) isShort(buf []byte) bool {
	return p.model == Private && len(buf) <= ring.Inline && p.lanes == nil
}

// sendShort sends a short message, if its peer is of this process and has room.
func (p *Port) sendShort(buf []byte, e *Envelope) bool {
	to := &p.fabric.peers[e.Peer]
	p.sentTo = to.inbox
	return to.port != nil && p.putShort(to, e, buf)
}

// awaitFront waits for the next cell while nothing but the inbox needs this thread, and
// returns it if it is an eager message that a receive with envelope e takes.
func (p *Port) awaitFront(e *Envelope) *ring.Cell {
	if p.model != Private || !p.matcher.Empty() || p.calls.ready.first != nil || p.lanes != nil || p.far != nil || p.worker != nil || p.fabric.options.Unique {
		return nil
	}
	for range p.fabric.spins {
		c := p.inbox.Front()
		if c == nil {
			if p.sentTo != nil { // an answer will call for another message
				p.sentTo.Warm()
				p.sentTo = nil
			}
			continue
		}
		if c.Kind <= cellPacket && !isActive(c.Tag) && e.Takes(Envelope{Context: c.Context, Peer: c.Source, Tag: c.Tag}) {
			return c
		}
		return nil
	}
	return nil
}

// takeFront receives the message in the front cell.
func (p *Port) takeFront(c *ring.Cell, buf []byte) (s Status, err error) {
	s = Status{Envelope{Context: c.Context, Peer: c.Source, Tag: c.Tag}, min(int(c.Length), len(buf))}
	if s.Bytes < int(c.Length) {
		err = ErrTruncated
	}
	if c.Kind == cellShort {
		copy(buf, c.Inline[:c.Length])
	} else {
		p.unpack(c, buf)
	}
	p.inbox.Pop()
	return s, err
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package verbs

import (
	"time"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/frame"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

// unpolled is how long what a peer sends may wait when no port polls or sleeps. Tests make it longer, as it would mend what they
// look for.
var unpolled = time.Second

// sweep acts on what has come and nobody polls for, until the node closes: a peer that leaves waits for that.
func (n *Node) sweep() {
	tick := time.NewTicker(unpolled)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			n.progressAll()
		case <-n.open.Done():
			return
		}
	}
}

// frameCame acts on a frame in a slot, and tells whether a port keeps that, and whether the frame makes sense.
//
// Preconditions: the lock is held.
func (a *lane) frameCame(b []byte, slot uint32) (kept, sense bool) {
	if len(b) < frame.HeaderSize {
		return false, false
	}
	h, payload := frame.Decode(b), b[frame.HeaderSize:]
	if !fits(&h) || int(h.Length) != len(payload) {
		return false, false
	}
	l := a.link
	p := l.node.port(int(h.To))
	if uint(int(h.From)-l.first) >= uint(l.ports) || p == nil || l.in(p) != a {
		return false, false
	}
	switch h.Kind {
	case frameCredit:
		credit := l.creditOf(int(h.From), p)
		more := frame.Word(payload, 0)
		if more > uint64(l.node.options.Window)-uint64(credit.Load()) {
			return false, false
		}
		credit.Add(int64(more))
		return false, true
	case frameTaken:
		key := frame.Word(payload, 0)
		s := a.sends.Find(key)
		if s == nil || s.to != h.From || s.port != p {
			return false, false
		}
		a.endSend(key, false)
		return false, true
	}
	return a.arrived(p, &h, payload, slot)
}

// arrived gives a message to its port, if that port owes the sender's rail no more than its window.
//
// A message that does not go into a cell stays in its slot until the port fetches it, unless the rail has few slots left.
func (a *lane) arrived(p *Port, h *frame.Header, payload []byte, slot uint32) (kept, sense bool) {
	e := event{kind: carrier.Arrived, cell: carrier.Inline, header: *h}
	takes := frame.Cost(0)
	switch {
	case h.Kind == frameOffer:
		e.cell, e.length = carrier.Offer, frame.Word(payload, 1)
		e.offer = offer{key: frame.Word(payload, 0), remote: frame.Word(payload, 2), remoteKey: uint32(frame.Word(payload, 3))}
		if int64(e.length) <= 0 {
			return false, false
		}
	case len(payload) <= ring.Inline:
		takes = frame.Cost(len(payload))
		copy(e.inline[:], payload)
	default:
		takes = frame.Cost(len(payload))
		e.cell = carrier.Kept
	}
	if a.link.owedBy(p, a.link.railOf(int(h.From))).Add(takes) > int64(a.link.node.options.Window) {
		return false, false
	}
	switch {
	case e.cell != carrier.Kept:
	case a.rail.starves():
		e.message = message{bytes: append(a.link.node.buffers.Get(len(payload)), payload...), slot: noSlot}
	default:
		kept, e.message = true, message{bytes: payload, slot: int(slot)}
	}
	p.events.Put(e)
	p.Bell().Ring()
	return kept, true
}

// partRead notes what was read, and ends a receive that has all, which it returns.
//
// Preconditions: the lock is held.
func (a *lane) partRead(key uint64) (ended receive, over bool) {
	r := a.receives.Find(key)
	if r.got += r.posted; r.got < len(r.dst) {
		a.unread = append(a.unread, key)
		return ended, false
	}
	ended = *r
	a.endReceive(key, false)
	return ended, true
}

// notice tells a message's sender that it was read. It goes by the sender's lane, which may be another one than that of the
// reader: the sender looks at no other.
func (l *link) notice(r *receive) {
	l.to(int(r.from)).tell(r.port, control{Header: frame.Header{Kind: frameTaken, From: r.port.rank, To: r.from}, word: r.offer})
}

// endReceive ends a receive.
//
// Preconditions: the lock is held.
func (a *lane) endReceive(key uint64, lost bool) {
	r := a.receives.Find(key)
	r.region.Release()
	r.port.events.Put(event{kind: carrier.Received, handle: r.handle, lost: lost})
	r.port.Bell().Ring()
	a.receives.Drop(key)
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/frame"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

// A Port is one rank's way to the ranks of other processes. It is for one thread
// at a time.
type Port struct {
	carrier.Sleeper
	node   *Node
	rank   int32
	events carrier.Queue[event]
	kept   carrier.Slots[[]byte] // messages that were not fetched yet
	owed   []int64               // by process: how much of its window to give back to it
	gone   []bool                // by process: told
}

func newPort(n *Node, rank int, bell *carrier.Bell) *Port {
	count := len(n.links)
	return &Port{Sleeper: carrier.NewSleeper(bell, &n.watch), node: n, rank: int32(rank), owed: make([]int64, count), gone: make([]bool, count)}
}

func (p *Port) index() int { return int(p.rank) - p.node.first() }

// Send sends to a rank of another process. The handle comes back with Sent, if the
// outcome is Pending.
func (p *Port) Send(to int, context uint32, tag int32, buf []byte, handle uint64) (carrier.Outcome, error) {
	l := p.node.linkOf(to)
	l.out.Lock()
	defer l.out.Unlock()
	if l.fate.Load() != fine {
		return carrier.Full, l.goneError(to)
	}
	if l.out.held >= maxHeld {
		return carrier.Full, nil
	}
	credit := &l.out.credit[to-l.first]
	h := frame.Header{From: p.rank, To: int32(to), Context: context, Tag: tag}
	// A port that takes nothing gets no more than half its window as bytes of messages; the rest
	// is for offers.
	if len(buf) <= ring.Inline || len(buf) <= p.node.options.Eager && *credit >= int64(p.node.options.Window)/2 {
		if *credit < frame.Cost(len(buf)) {
			return carrier.Full, nil
		}
		*credit -= frame.Cost(len(buf))
		h.Kind, h.Length = frameMessage, uint32(len(buf))
		copy(l.begin(h), buf)
		l.flush()
		return carrier.Done, nil
	}
	if *credit < frame.Cost(0) {
		return carrier.Full, nil
	}
	*credit -= frame.Cost(0)
	key, s := l.out.sends.Take()
	*s = send{buf: buf, handle: handle, port: p, to: int32(to)}
	h.Kind, h.Length = frameOffer, 2*frame.WordSize
	frame.SetWords(l.begin(h), key, uint64(len(buf)))
	l.flush()
	return carrier.Pending, nil
}

// Poll finds what has happened, one thing at a time, and moves the node's connections on if there
// is nothing. It never waits.
func (p *Port) Poll(e *carrier.Event) bool {
	if p.take(e) {
		return true
	}
	p.node.progress(false)
	return p.take(e)
}

// take takes an event, if there is one.
func (p *Port) take(e *carrier.Event) bool {
	found, any := p.events.Take()
	if !any {
		return false
	}
	e.Kind, e.Lost, e.Handle = found.kind, found.lost, found.handle
	switch found.kind {
	case carrier.Gone:
		p.gone[found.peer] = true
		l := p.node.links[found.peer]
		e.First, e.Ranks = l.first, l.ports
	case carrier.Arrived:
		c, h := &e.Cell, &found.header
		c.Kind, c.Context, c.Source, c.Tag, c.Length = found.cell, h.Context, h.From, h.Tag, h.Length
		switch found.cell {
		case carrier.Inline:
			c.Inline = found.inline
		case carrier.Offer:
			carrier.SetWords(c, found.words)
		case carrier.Kept:
			key, payload := p.kept.Take()
			*payload = found.payload
			carrier.SetWords(c, [3]uint64{key})
		}
	}
	return true
}

// Fetch takes a message that has arrived into dst, as far as that has room. If it
// is done, all is there, unless the sender is gone, which is the error; else the
// buffer belongs to the port until Poll returns Received with the handle.
func (p *Port) Fetch(c *ring.Cell, dst []byte, handle uint64) (done bool, err error) {
	dst = dst[:min(len(dst), carrier.Bytes(c))]
	l := p.node.linkOf(int(c.Source))
	switch c.Kind {
	case carrier.Inline:
		copy(dst, c.Inline[:])
		p.giveBack(l, frame.Cost(int(c.Length)))
	case carrier.Kept:
		payload := *p.kept.Find(carrier.Word(c, 0))
		copy(dst, payload)
		p.kept.Drop(carrier.Word(c, 0))
		p.node.buffers.Put(payload)
		p.giveBack(l, frame.Cost(int(c.Length)))
	case carrier.Offer:
		p.giveBack(l, frame.Cost(0))
		return p.pull(l, c, dst, handle)
	}
	return true, nil
}

// pull asks for a message that was offered.
func (p *Port) pull(l *link, c *ring.Cell, dst []byte, handle uint64) (done bool, err error) {
	l.in.Lock()
	defer l.in.Unlock()
	if l.fate.Load() != fine {
		return true, l.goneError(int(c.Source))
	}
	var key uint64
	if len(dst) > 0 {
		var r *receive
		key, r = l.in.receives.Take()
		*r = receive{dst: dst, handle: handle, port: p, from: c.Source, offer: carrier.Word(c, 0)}
	}
	l.out.Lock()
	defer l.out.Unlock()
	frame.SetWords(l.begin(frame.Header{Kind: framePull, Length: 3 * frame.WordSize, From: p.rank, To: c.Source}), carrier.Word(c, 0), key, uint64(len(dst)))
	l.flush()
	return len(dst) == 0, nil
}

// giveBack lets the peer send as much again as was taken, now or together with more.
func (p *Port) giveBack(l *link, taken int64) {
	l.in.owed[p.index()].Add(-taken)
	owed := &p.owed[l.peer]
	if *owed += taken; *owed < int64(p.node.options.Window)/4 {
		return
	}
	l.out.Lock()
	defer l.out.Unlock()
	if l.fate.Load() == fine {
		frame.SetWords(l.begin(frame.Header{Kind: frameCredit, Length: frame.WordSize, From: p.rank, To: int32(l.first)}), uint64(*owed))
		l.flush()
	}
	*owed = 0
}

// Gone tells whether Poll has said that a rank is gone.
func (p *Port) Gone(rank int) bool { return p.node.Reaches(rank) && p.gone[p.node.places[rank]] }

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package verbs

import (
	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/frame"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
	"github.com/tpsl/tpsl/ib/verbs"
)

// An event is what a port is to find by Poll.
type event struct {
	kind   carrier.Kind
	lost   bool
	handle uint64
	peer   int // Gone: the process

	cell    uint32 // Arrived: the kind of the cell
	header  frame.Header
	length  uint64   // Offer: of the message
	offer   offer    // Offer
	inline  [40]byte // Inline
	message message  // Kept
}

// A message is one that has come and was not fetched yet.
type message struct {
	bytes []byte
	slot  int // of the rail, whose memory it is in; or noSlot
}

const noSlot = -1

// An offer is where a large message is.
type offer struct {
	key       uint64 // the sender's
	remote    uint64 // address
	remoteKey uint32 // of the registration
}

// A Port is one rank's way to the ranks of other processes. It is for one thread
// at a time.
type Port struct {
	carrier.Sleeper
	node   *Node
	rail   *rail // that serves it
	rank   int32
	events carrier.Queue[event]
	kept   carrier.Slots[message] // that were not fetched yet
	offers carrier.Slots[offer]   // likewise
	empty  []uint32               // slots that it has fetched what was in, to be given back together
	owed   []int64                // by process and rail of it: how much of its window to give back
	gone   []bool                 // by process: told
}

func newPort(n *Node, rank int, bell *carrier.Bell) *Port {
	r := n.rails[railOf(rank-n.first(), n.options.Peers[n.options.Process].Ports, len(n.rails))]
	count := len(n.options.Peers)
	return &Port{Sleeper: carrier.NewSleeper(bell, &r.watch), node: n, rail: r, rank: int32(rank), owed: make([]int64, count*n.mostRails), gone: make([]bool, count)}
}

func (p *Port) index() int { return int(p.rank) - p.node.first() }

// Poll finds what has happened, one thing at a time, and moves on what its rail carries if there
// is nothing. It never waits.
func (p *Port) Poll(e *carrier.Event) bool {
	if p.take(e) {
		return true
	}
	p.giveSlotsBack()
	p.node.progress(p.rail, false)
	return p.take(e)
}

// giveSlotsBack gives slots back when they are many, or the rail has few.
func (p *Port) giveSlotsBack() {
	if len(p.empty) >= atOnce || len(p.empty) > 0 && p.rail.starves() {
		p.rail.giveBack(p.empty...)
		p.empty = p.empty[:0]
	}
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
			key, o := p.offers.Take()
			*o = found.offer
			carrier.SetWords(c, [3]uint64{found.offer.key, key, found.length})
		case carrier.Kept:
			key, m := p.kept.Take()
			*m = found.message
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
		p.giveBack(l, int(c.Source), frame.Cost(int(c.Length)))
	case carrier.Kept:
		m := *p.kept.Find(carrier.Word(c, 0))
		copy(dst, m.bytes)
		p.kept.Drop(carrier.Word(c, 0))
		if m.slot == noSlot {
			p.node.buffers.Put(m.bytes)
		} else {
			p.empty = append(p.empty, uint32(m.slot))
			p.giveSlotsBack()
		}
		p.giveBack(l, int(c.Source), frame.Cost(int(c.Length)))
	case carrier.Offer:
		o := *p.offers.Find(carrier.Word(c, 1))
		p.offers.Drop(carrier.Word(c, 1))
		p.giveBack(l, int(c.Source), frame.Cost(0))
		return p.read(l, int(c.Source), o, dst, handle)
	}
	return true, nil
}

// read reads a message that was offered.
func (p *Port) read(l *link, from int, o offer, dst []byte, handle uint64) (done bool, err error) {
	if err := l.gone(from); err != nil {
		return true, err
	}
	if len(dst) == 0 {
		l.notice(&receive{port: p, from: int32(from), offer: o.key})
		return true, nil
	}
	region, err := p.rail.cache.AcquireBytes(dst, verbs.LocalWrite)
	if err != nil {
		p.node.end(l, unable, err.Error())
		return true, l.gone(from)
	}
	a := l.in(p)
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.over {
		region.Release()
		return true, l.gone(from)
	}
	key, r := a.receives.Take()
	*r = receive{dst: dst, region: region, handle: handle, port: p, from: int32(from), offer: o.key, remote: o.remote, remoteKey: o.remoteKey}
	a.unread = append(a.unread, key)
	a.readOn()
	return false, nil
}

// giveBack lets a rail of the peer's, that of a rank, send as much again as was taken, now or together with more.
func (p *Port) giveBack(l *link, from int, taken int64) {
	rail := l.railOf(from)
	l.owedBy(p, rail).Add(-taken)
	owed := &p.owed[l.peer*p.node.mostRails+rail]
	if *owed += taken; *owed < int64(p.node.options.Window)/4 {
		return
	}
	to := l.first + firstOf(rail, l.ports, l.rails)
	l.to(to).tell(p, control{Header: frame.Header{Kind: frameCredit, From: p.rank, To: int32(to)}, word: uint64(*owed)})
	*owed = 0
}

// Gone tells whether Poll has said that a rank is gone.
func (p *Port) Gone(rank int) bool { return p.node.Reaches(rank) && p.gone[p.node.places[rank]] }

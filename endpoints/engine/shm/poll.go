// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"math"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

// Poll finds what has happened, one thing at a time, and moves on what is under way.
// It never waits, and returns false only when all open tracks are empty.
func (p *Port) Poll(e *carrier.Event) bool {
	if len(p.outbox)+len(p.streams) > 0 {
		p.flush()
	}
	if now := p.changes.Load(); now != p.noticed {
		p.noticed = now
		p.notice()
	}
	if now := p.opens.Load(); now != p.opened {
		p.opened = now
		p.readOpen()
	}
	for empty := 0; empty < len(p.open); empty++ {
		if p.finished.pop(e) {
			return true
		}
		j := p.open[p.turn]
		if p.turn++; p.turn == len(p.open) {
			p.turn = 0
		}
		if p.gone[j] {
			continue
		}
		over := p.dying > 0 && p.node.peers[j].fate.Load() != fine // before the look: nothing comes after it
		if c := p.tracks[j].Front(); c != nil {
			if p.receive(j, c, e) {
				return true
			}
			empty = -1
		} else if over {
			p.bury(j)
		}
	}
	return p.finished.pop(e)
}

// readOpen reads from now on what is open.
func (p *Port) readOpen() {
	for j := range p.tracks {
		if p.own.open(p.index(), j).Load() != 0 {
			p.readTrack(j)
		}
	}
}

// readTrack has a process's track be read, if it is not already.
func (p *Port) readTrack(j int) {
	if p.tracks[j] == nil {
		p.tracks[j] = p.own.track(p.index(), j)
		p.open = append(p.open, j)
	}
}

// index returns the port's number among those of its process.
func (p *Port) index() int { return int(p.rank) - p.node.options.First }

// receive takes a cell off a track and acts on it. It tells whether it is a message
// that has arrived.
func (p *Port) receive(j int, front *ring.Cell, e *carrier.Event) bool {
	c := &e.Cell
	snapshot(c, front)
	p.tracks[j].Pop()
	peer := &p.node.peers[j]
	at := place{process: int32(j), port: c.Source - int32(peer.first)}
	if uint32(at.port) < uint32(len(peer.tracks)) {
		if isMessage(c, peer) {
			e.Kind = carrier.Arrived
			return true
		}
		if p.react(at, c) {
			return false
		}
	}
	p.node.condemn(j, broken)
	p.bury(j)
	return false
}

// isMessage tells whether a cell stands for a message, and makes sense.
func isMessage(c *ring.Cell, from *peer) bool {
	switch c.Kind {
	case carrier.Inline:
		return c.Length <= ring.Inline
	case carrier.Kept:
		return carrier.Word(c, 0) < packetsPer && int(c.Length) <= from.segment.layout.packet
	case carrier.Offer:
		return carrier.Word(c, 2)-1 < math.MaxInt // which 0 is not
	}
	return false
}

// react goes on with what is under way and tells whether the cell makes sense.
func (p *Port) react(from place, c *ring.Cell) bool {
	switch c.Kind {
	case cellAsk:
		return p.asked(from, carrier.Word(c, 0), carrier.Word(c, 1), carrier.Word(c, 2))
	case cellPart:
		return p.part(from, carrier.Word(c, 0), packetIn(c, 1), int(c.Length))
	case cellDone:
		return p.read(from, carrier.Word(c, 0))
	}
	return false
}

// notice counts the peers whose tracks are to be read to their ends, also if none was opened.
func (p *Port) notice() {
	p.dying = 0
	for j := range p.gone {
		if !p.gone[j] && p.node.look(j) != fine {
			p.dying++
			p.readTrack(j)
		}
	}
}

// bury ends all that is under way with a process that is gone, or was cut off, and
// whose track is not read any more.
func (p *Port) bury(j int) {
	p.gone[j] = true
	process := int32(j)
	p.packets.reclaim(process)
	kept := p.outbox[:0]
	for _, m := range p.outbox {
		if m.process != process {
			kept = append(kept, m)
		}
	}
	p.outbox = kept
	p.sends.Used(func(key uint64, s *send) {
		if s.process == process {
			p.endSend(key, s, true)
		}
	})
	p.receives.Used(func(key uint64, r *receive) {
		if r.process == process {
			p.endReceive(key, r, true)
		}
	})
	p.finished.push(ending{kind: carrier.Gone, first: p.node.peers[j].first, ranks: len(p.node.peers[j].tracks)})
	p.notice()
}

// An ending is an Event that is no message.
type ending struct {
	kind         carrier.Kind
	lost         bool
	handle       uint64
	first, ranks int
}

// A queue is first in, first out. It grows where it must.
type queue struct {
	endings []ending
	next    int
}

func (q *queue) push(e ending) { q.endings = append(q.endings, e) }

func (q *queue) pop(e *carrier.Event) bool {
	if q.next == len(q.endings) {
		return false
	}
	x := &q.endings[q.next]
	e.Kind, e.Lost, e.Handle, e.First, e.Ranks = x.kind, x.lost, x.handle, x.first, x.ranks
	if q.next++; q.next == len(q.endings) {
		q.endings, q.next = q.endings[:0], 0
	}
	return true
}

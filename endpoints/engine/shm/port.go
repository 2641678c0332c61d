// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"sync/atomic"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

// A Port is one rank's way to the ranks of other processes. It is for one thread
// at a time, all but Wake.
type Port struct {
	node *Node
	rank int32

	// Receiving.
	tracks   []*ring.Ring // by process
	turn     int          // the track to look at first
	receives slots[receive]
	noticed  uint32 // header.changes, as of the last look
	gone     []bool // by process: told, and its track is read no more
	dying    int    // how many are to be told as gone, once their tracks are empty

	// Sending.
	packets  packets
	sends    slots[send]
	streams  []uint32  // sends whose receivers ask for packets
	outbox   []control // cells for tracks that are full
	finished queue     // for Poll

	bell    *bell
	changes *atomic.Uint32
}

func newPort(n *Node, k int) *Port {
	own := n.peers[n.self].segment
	p := &Port{
		node: n, rank: int32(n.options.First + k),
		gone: make([]bool, len(n.peers)),
		bell: own.bell(k), changes: &own.header.changes,
		packets: newPackets(own, k),
	}
	for j := range n.peers {
		p.tracks = append(p.tracks, own.track(k, j))
	}
	p.gone[n.self] = true
	return p
}

// An Outcome says what became of a Send.
type Outcome int

// The outcomes.
const (
	Full    Outcome = iota // nothing was sent: there is no room now; try again after Poll
	Done                   // the buffer may be used again
	Pending                // the buffer must stay as it is until Poll returns Sent
)

// Send sends to a rank of another process. The handle comes back with Sent, if the
// outcome is Pending.
func (p *Port) Send(to int, context uint32, tag int32, buf []byte, handle uint64) (Outcome, error) {
	at := p.node.places[to]
	if p.node.peers[at.process].fate.Load() != fine {
		return Full, p.node.goneError(to)
	}
	if len(buf) > ring.Inline {
		return p.sendLarge(at, context, tag, buf, handle), nil
	}
	track := p.node.peers[at.process].tracks[at.port]
	c, turn := track.Claim()
	if c == nil {
		return Full, nil
	}
	c.Kind, c.Context, c.Source, c.Tag, c.Length = cellInline, context, p.rank, tag, uint32(len(buf))
	copy(c.Inline[:], buf)
	c.Publish(turn)
	p.node.peers[at.process].bells[at.port].ring()
	return Done, nil
}

// sendLarge sends what does not fit into a cell: in a packet, or, if it does not fit there
// either or there is no packet, by an offer of the buffer.
func (p *Port) sendLarge(at place, context uint32, tag int32, buf []byte, handle uint64) Outcome {
	if len(buf) <= p.packets.size {
		if number, memory := p.packets.takeMessage(at.process); memory != nil {
			copy(memory, buf)
			c := control{place: at, kind: cellPacket, context: context, tag: tag, length: uint32(len(buf))}
			c.words[0] = uint64(number)
			if p.post(&c) {
				return Done
			}
			p.packets.untake(number)
			return Full
		}
	}
	key, s := p.sends.take()
	*s = send{buf: buf, handle: handle, place: at}
	c := control{place: at, kind: cellOffer, context: context, tag: tag}
	c.words = [3]uint64{key, addressOf(buf), uint64(len(buf))}
	if p.post(&c) {
		return Pending
	}
	p.sends.drop(key)
	return Full
}

// Wake wakes whoever sleeps in Sleep.
//
// Preconditions: what it is to find has been stored.
func (p *Port) Wake() { p.bell.ring() }

// Gone tells whether Poll has said that a rank is gone.
func (p *Port) Gone(rank int) bool { return p.gone[p.node.places[rank].process] && !p.node.isOwn(rank) }

// Doze announces that the port is about to sleep. Its caller looks once more for
// whatever it waits for, be it by Poll or elsewhere, then calls Sleep or Rouse.
func (p *Port) Doze() uint32 { return p.bell.doze() }

// Rouse takes Doze back.
func (p *Port) Rouse() { p.bell.rouse() }

// Sleep sleeps until there is something for Poll, or somebody called Wake, since
// Doze; or for the limit, if it is not 0. It may return early.
func (p *Port) Sleep(since uint32, limit time.Duration) {
	if len(p.outbox)+len(p.streams) > 0 && (limit == 0 || limit > fullTrackPause) {
		limit = fullTrackPause // nobody rings when a track has room again
	}
	p.bell.sleep(since, limit)
}

const fullTrackPause = 100 * time.Microsecond

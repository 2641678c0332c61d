// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"sync/atomic"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

// A Port is one rank's way to the ranks of other processes. It is for one thread
// at a time, all but Wake.
type Port struct {
	node *Node
	rank int32

	// Receiving.
	own      *segment
	opens    *atomic.Uint64 // how often a track to the port was opened
	opened   uint64         // of that, what is in open
	tracks   []*ring.Ring   // by process; nil: not open
	open     []int          // the processes whose tracks are read
	turn     int            // which of them to look at first
	receives carrier.Slots[receive]
	noticed  uint32 // header.changes, as of the last look
	gone     []bool // by process: told, and its track is read no more
	dying    int    // how many are to be told as gone, once their tracks are empty

	// Sending.
	packets  packets
	sends    carrier.Slots[send]
	streams  []uint32  // sends whose receivers ask for packets
	outbox   []control // cells for tracks that are full
	finished queue     // for Poll

	bell    *carrier.Bell
	changes *atomic.Uint32
}

func newPort(n *Node, k int) *Port {
	own := n.peers[n.self].segment
	p := &Port{
		node: n, rank: int32(n.options.First + k),
		own: own, opens: own.opens(k), tracks: make([]*ring.Ring, len(n.peers)), gone: make([]bool, len(n.peers)),
		bell: own.bell(k), changes: &own.header.changes,
		packets: newPackets(own, k),
	}
	p.gone[n.self] = true
	return p
}

// Send sends to a rank of another process. The handle comes back with Sent, if the
// outcome is Pending.
func (p *Port) Send(to int, context uint32, tag int32, buf []byte, handle uint64) (carrier.Outcome, error) {
	at := p.node.places[to]
	if p.node.peers[at.process].fate.Load() != fine {
		return carrier.Full, p.node.goneError(to)
	}
	if len(buf) > ring.Inline {
		return p.sendLarge(at, context, tag, buf, handle), nil
	}
	c, turn := p.node.track(at).Claim()
	if c == nil {
		return carrier.Full, nil
	}
	c.Kind, c.Context, c.Source, c.Tag, c.Length = carrier.Inline, context, p.rank, tag, uint32(len(buf))
	copy(c.Inline[:], buf)
	c.Publish(turn)
	p.node.peers[at.process].bells[at.port].Ring()
	return carrier.Done, nil
}

// sendLarge sends what does not fit into a cell: in a packet, or, if it does not fit there
// either or there is no packet, by an offer of the buffer.
func (p *Port) sendLarge(at place, context uint32, tag int32, buf []byte, handle uint64) carrier.Outcome {
	if len(buf) <= p.packets.size {
		if number, memory := p.packets.takeMessage(at.process); memory != nil {
			copy(memory, buf)
			c := control{place: at, kind: carrier.Kept, context: context, tag: tag, length: uint32(len(buf))}
			c.words[0] = uint64(number)
			if p.post(&c) {
				return carrier.Done
			}
			p.packets.untake(number)
			return carrier.Full
		}
	}
	key, s := p.sends.Take()
	*s = send{buf: buf, handle: handle, place: at}
	c := control{place: at, kind: carrier.Offer, context: context, tag: tag}
	c.words = [3]uint64{key, addressOf(buf), uint64(len(buf))}
	if p.post(&c) {
		return carrier.Pending
	}
	p.sends.Drop(key)
	return carrier.Full
}

// Bell returns the bell by which the port is woken.
func (p *Port) Bell() *carrier.Bell { return p.bell }

// Gone tells whether Poll has said that a rank is gone.
func (p *Port) Gone(rank int) bool { return p.gone[p.node.places[rank].process] && !p.node.isOwn(rank) }

// Doze announces that the port is about to sleep. Its caller looks once more for
// whatever it waits for, be it by Poll or elsewhere, then calls Sleep or Rouse.
func (p *Port) Doze() uint32 { return p.bell.Doze() }

// Rouse takes Doze back.
func (p *Port) Rouse() { p.bell.Rouse() }

// Sleep sleeps until there is something for Poll, or the bell rang, since
// Doze; or for the limit, if it is not 0. It may return early.
func (p *Port) Sleep(since uint32, limit time.Duration) {
	if len(p.outbox)+len(p.streams) > 0 && (limit == 0 || limit > fullTrackPause) {
		limit = fullTrackPause // nobody rings when a track has room again
	}
	p.bell.Sleep(since, limit)
}

const fullTrackPause = 100 * time.Microsecond

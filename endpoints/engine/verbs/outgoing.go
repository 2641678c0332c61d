// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package verbs

import (
	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
	"github.com/tpsl/tpsl/ib/regcache"
	"github.com/tpsl/tpsl/ib/verbs"
)

// Each side knows for how many frames the other has posted memory, its room. A frame takes one, and its header gives
// back those that have been taken. The last one is for a frameRoom alone: so two sides that have no room left
// can still tell each other.

// mayPut tells whether a frame can be put.
//
// Preconditions: the lock is held.
func (l *link) mayPut(kind uint32) bool {
	least := 2
	if kind == frameRoom {
		least = 1
	}
	return !l.wounded && len(l.free) > 0 && l.room >= least
}

// begin takes a slot for a frame and encodes its header. The caller fills in the payload, and calls put.
//
// Preconditions: mayPut says so.
func (l *link) begin(h header) (slot uint32, payload []byte) {
	slot = l.free[len(l.free)-1]
	l.free = l.free[:len(l.free)-1]
	h.room, l.taken = uint32(l.taken), 0
	l.room--
	b := l.slot(slot)
	h.encode(b)
	return slot, b[headerSize : headerSize+int(h.length)]
}

// An early frame waits in its slot for the connection.
type early struct {
	slot    uint32
	payload []byte
}

// put sends a frame, when the link is up.
func (l *link) put(slot uint32, payload []byte) {
	if !l.up {
		l.early = append(l.early, early{slot, payload})
		return
	}
	if err := l.pair.Send(l.id(ofSend, slot), l.addressOf(slot), headerSize+len(payload), l.registered.Local); err != nil {
		l.wound(err.Error())
		return
	}
	l.sent++
}

// rise puts what has waited for the connection.
//
// Preconditions: the lock is held, and the peer's pair takes frames.
func (l *link) rise() {
	l.up = true
	for _, e := range l.early {
		l.put(e.slot, e.payload)
	}
	l.early = nil
}

// tell puts a control as soon as it can be.
//
// Preconditions: the lock is held.
func (l *link) tell(c control) {
	c.length = wordSize
	l.waiting = append(l.waiting, c)
	l.pump()
}

// pump puts what waits, and tells the peer what has been taken when that is much.
//
// Preconditions: the lock is held.
func (l *link) pump() {
	n := 0
	for ; n < len(l.waiting) && l.mayPut(l.waiting[n].kind); n++ {
		slot, payload := l.begin(l.waiting[n].header)
		setWord(payload, 0, l.waiting[n].word)
		l.put(slot, payload)
	}
	l.waiting = l.waiting[:copy(l.waiting, l.waiting[n:])]
	if l.taken >= receiveSlots/2 && l.mayPut(frameRoom) {
		l.put(l.begin(header{kind: frameRoom}))
	}
}

// Send sends to a rank of another process. The handle comes back with Sent, if the
// outcome is Pending.
func (p *Port) Send(to int, context uint32, tag int32, buf []byte, handle uint64) (carrier.Outcome, error) {
	l := p.node.linkOf(to)
	l.lock.Lock()
	defer l.lock.Unlock()
	h := header{kind: frameMessage, length: uint32(len(buf)), from: p.rank, to: int32(to), context: context, tag: tag}
	outcome, takes := p.mayGo(l, &h, len(buf))
	if outcome == carrier.Pending {
		return p.offer(l, h, buf, handle)
	}
	if outcome == carrier.Done {
		l.credit[to-l.first] -= takes
		slot, payload := l.begin(h)
		copy(payload, buf)
		l.put(slot, payload)
	}
	return outcome, l.gone(to)
}

// mayGo tells how a message may go now: at once, as an offer, or not yet; and what it takes of the window.
//
// A port that takes nothing gets no more than half its window as bytes of messages; the rest is for offers.
//
// Preconditions: the lock is held.
func (p *Port) mayGo(l *link, h *header, length int) (how carrier.Outcome, takes int64) {
	if !l.up && l.fate.Load() == fine {
		l.connect()
		if err := l.prepare(); err != nil {
			l.bury(unable, err.Error())
		}
	}
	if len(l.waiting) > 0 || !l.mayPut(h.kind) {
		return carrier.Full, 0
	}
	credit := l.credit[int(h.to)-l.first]
	how, takes = carrier.Done, cost(length)
	if length > ring.Inline && (length > p.node.options.Eager || credit < int64(p.node.options.Window)/2) {
		how, takes = carrier.Pending, cost(0)
	}
	if credit < takes {
		return carrier.Full, 0
	}
	return how, takes
}

// offer offers a message, whose memory it registers meanwhile without the lock: that takes a while.
//
// Preconditions: the lock is held.
func (p *Port) offer(l *link, h header, buf []byte, handle uint64) (carrier.Outcome, error) {
	l.lock.Unlock()
	region, err := p.node.cache.AcquireBytes(buf, verbs.RemoteRead)
	if err != nil {
		p.node.end(l, unable, err.Error())
		l.lock.Lock()
		return carrier.Full, l.gone(int(h.to))
	}
	l.lock.Lock()
	if outcome, takes := p.mayGo(l, &h, len(buf)); outcome == carrier.Pending {
		l.credit[int(h.to)-l.first] -= takes
	} else { // it has changed meanwhile
		region.Release()
		return carrier.Full, l.gone(int(h.to))
	}
	key, s := l.sends.Take()
	*s = send{buf: buf, region: region, handle: handle, port: p, to: h.to}
	h.kind, h.length = frameOffer, offerWords*wordSize
	slot, payload := l.begin(h)
	setWord(payload, 0, key)
	setWord(payload, 1, uint64(len(buf)))
	setWord(payload, 2, regcache.RangeOf(buf).Start)
	setWord(payload, 3, uint64(region.Memory.Remote))
	l.put(slot, payload)
	return carrier.Pending, nil
}

// endSend ends an offer.
//
// Preconditions: the lock is held.
func (l *link) endSend(key uint64, lost bool) {
	s := l.sends.Find(key)
	s.region.Release()
	s.port.events.Put(event{kind: carrier.Sent, handle: s.handle, lost: lost})
	s.port.Bell().Ring()
	l.sends.Drop(key)
}

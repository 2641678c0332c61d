// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package verbs

import (
	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/frame"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
	"github.com/tpsl/tpsl/ib/regcache"
	"github.com/tpsl/tpsl/ib/verbs"
)

// Send sends to a rank of another process. The handle comes back with Sent, if the
// outcome is Pending.
func (p *Port) Send(to int, context uint32, tag int32, buf []byte, handle uint64) (carrier.Outcome, error) {
	l := p.node.linkOf(to)
	if !l.up.Load() {
		l.open()
	}
	a := l.to(to)
	a.lock.Lock()
	defer a.lock.Unlock()
	h := frame.Header{Kind: frameMessage, Length: uint32(len(buf)), From: p.rank, To: int32(to), Context: context, Tag: tag}
	outcome, takes := p.mayGo(a, to, len(buf))
	if outcome == carrier.Pending {
		return p.offer(a, h, buf, handle)
	}
	if outcome == carrier.Done {
		l.creditOf(to, p).Add(-takes)
		slot, payload := a.begin(h)
		copy(payload, buf)
		a.put(slot, payload)
	}
	return outcome, l.gone(to)
}

// mayGo tells how a message may go now: at once, as an offer, or not yet; and what it takes of the window.
//
// A port that takes nothing gets no more than half its window as bytes of messages; the rest is for offers.
//
// Preconditions: the lane's lock is held.
func (p *Port) mayGo(a *lane, to, length int) (how carrier.Outcome, takes int64) {
	if len(a.waiting) > 0 || !a.mayPut() {
		a.watchFor(p)
		return carrier.Full, 0
	}
	credit := a.link.creditOf(to, p).Load()
	how, takes = carrier.Done, frame.Cost(length)
	if length > ring.Inline && (length > p.node.options.Eager || credit < int64(p.node.options.Window)/2) {
		how, takes = carrier.Pending, frame.Cost(0)
	}
	if credit < takes {
		return carrier.Full, 0
	}
	return how, takes
}

// offer offers a message, whose memory it registers meanwhile without the lock: that takes a while. The offer is noted at the port's own lane,
// to which the notice comes that the message was read.
func (p *Port) offer(a *lane, h frame.Header, buf []byte, handle uint64) (carrier.Outcome, error) {
	l, to := a.link, int(h.To)
	a.lock.Unlock()
	region, err := a.rail.cache.AcquireBytes(buf, verbs.RemoteRead)
	if err != nil {
		p.node.end(l, unable, err.Error())
		a.lock.Lock()
		return carrier.Full, l.gone(to)
	}
	key, noted := l.in(p).note(send{buf: buf, region: region, handle: handle, port: p, to: h.To})
	a.lock.Lock()
	if !noted {
		return carrier.Full, l.gone(to)
	}
	outcome, takes := p.mayGo(a, to, len(buf))
	if outcome != carrier.Pending { // it has changed meanwhile
		a.lock.Unlock()
		forgot := l.in(p).forget(key)
		a.lock.Lock()
		if !forgot {
			return carrier.Pending, nil // the link has ended, and so has the offer
		}
		return carrier.Full, l.gone(to)
	}
	l.creditOf(to, p).Add(-takes)
	h.Kind, h.Length = frameOffer, offerWords*frame.WordSize
	slot, payload := a.begin(h)
	frame.SetWords(payload, key, uint64(len(buf)), regcache.RangeOf(buf).Start, uint64(region.Memory.Remote))
	a.put(slot, payload)
	return carrier.Pending, nil
}

// note notes an offer that is about to be made, and tells whether it may be; else the region is released.
func (a *lane) note(s send) (key uint64, may bool) {
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.over {
		s.region.Release()
		return 0, false
	}
	key, place := a.sends.Take()
	*place = s
	return key, true
}

// forget takes note back, and tells whether it could: the offer may have ended with the link.
func (a *lane) forget(key uint64) bool {
	a.lock.Lock()
	defer a.lock.Unlock()
	s := a.sends.Find(key)
	if s == nil {
		return false
	}
	s.region.Release()
	a.sends.Drop(key)
	return true
}

// endSend ends an offer.
//
// Preconditions: the lock is held.
func (a *lane) endSend(key uint64, lost bool) {
	s := a.sends.Find(key)
	s.region.Release()
	s.port.events.Put(event{kind: carrier.Sent, handle: s.handle, lost: lost})
	s.port.Bell().Ring()
	a.sends.Drop(key)
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package verbs

import (
	"time"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
	"github.com/tpsl/tpsl/ib/regcache"
	"github.com/tpsl/tpsl/ib/verbs/queue"
)

const takesAtOnce = 8 // calls of take by one progress

// unpolled is how long what a peer sends may wait when no port polls or sleeps. Tests make it longer, as it would mend what they
// look for.
var unpolled = time.Second

// progress acts on what has been completed. Whoever cannot wait leaves it to another thread that does that already.
func (n *Node) progress(wait bool) {
	if wait {
		n.polling.Lock()
	} else if !n.polling.TryLock() {
		return
	}
	defer n.polling.Unlock()
	for range takesAtOnce {
		if !n.take() {
			return
		}
	}
}

// take takes completions, and tells whether there were any.
//
// Preconditions: polling is locked.
func (n *Node) take() bool {
	count, err := n.completions.Poll(n.taken[:])
	if err != nil {
		for _, l := range n.links {
			if l != nil {
				l.lock.Lock()
				l.bury(unable, err.Error())
				l.lock.Unlock()
			}
		}
	}
	for i := range n.taken[:count] {
		c := &n.taken[i]
		l := n.links[uint32(c.ID>>32)&^(3<<30)]
		l.lock.Lock()
		l.completed(c)
		l.lock.Unlock()
	}
	return count > 0
}

// sweep acts on what has come and nobody polls for, until the node closes: a peer that leaves waits for that.
func (n *Node) sweep() {
	tick := time.NewTicker(unpolled)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			n.progress(true)
		case <-n.open.Done():
			return
		}
	}
}

// completed acts on a completion. Those of a pair that is closed say nothing.
//
// Preconditions: polling and the lock are held.
func (l *link) completed(c *queue.Completion) {
	if l.fate.Load() != fine || c.Pair != l.number {
		return
	}
	if c.Status != queue.Fine {
		l.wound(c.Status.String())
		return
	}
	index := uint32(c.ID)
	switch c.ID >> 62 {
	case ofReceive:
		l.came++
		if !l.frameCame(l.slot(index)[:c.Length]) {
			l.bury(broken, "")
			return
		}
		if err := l.post(index); err != nil {
			l.wound(err.Error())
			return
		}
		l.taken++
		l.pump()
	case ofSend:
		l.free = append(l.free, index)
		l.pump()
	case ofRead:
		l.reads--
		l.partRead(l.receives.Key(index))
		l.readOn()
	}
}

// frameCame acts on a frame, and tells whether it makes sense.
func (l *link) frameCame(b []byte) bool {
	if len(b) < headerSize {
		return false
	}
	h, payload := decode(b), b[headerSize:]
	if !h.fits() || int(h.length) != len(payload) || int64(h.room) > int64(receiveSlots-l.room) {
		return false
	}
	l.room += int(h.room)
	if h.kind == frameRoom {
		return true
	}
	if uint(int(h.from)-l.first) >= uint(l.ports) || l.node.port(int(h.to)) == nil {
		return false
	}
	switch h.kind {
	case frameCredit:
		credit := &l.credit[int(h.from)-l.first]
		more := word(payload, 0)
		if more > uint64(l.node.options.Window)-uint64(*credit) {
			return false
		}
		*credit += int64(more)
		return true
	case frameTaken:
		key := word(payload, 0)
		s := l.sends.Find(key)
		if s == nil || s.to != h.from || s.port.rank != h.to {
			return false
		}
		l.endSend(key, false)
		return true
	}
	return l.arrived(&h, payload)
}

// arrived gives a message to its port, if that port owes the peer no more than its window.
func (l *link) arrived(h *header, payload []byte) bool {
	p := l.node.port(int(h.to))
	e := event{kind: carrier.Arrived, cell: carrier.Inline, header: *h}
	takes := cost(0)
	switch {
	case h.kind == frameOffer:
		e.cell, e.length = carrier.Offer, word(payload, 1)
		e.offer = offer{key: word(payload, 0), remote: word(payload, 2), remoteKey: uint32(word(payload, 3))}
		if int64(e.length) <= 0 {
			return false
		}
	case len(payload) <= ring.Inline:
		takes = cost(len(payload))
		copy(e.inline[:], payload)
	default:
		takes = cost(len(payload))
		e.cell = carrier.Kept
	}
	if l.owed[p.index()].Add(takes) > int64(l.node.options.Window) {
		return false
	}
	if e.cell == carrier.Kept {
		e.payload = append(l.node.buffers.Get(len(payload)), payload...)
	}
	p.events.Put(e)
	p.Bell().Ring()
	return true
}

// readOn posts reads of parts of messages, each message in its turn.
//
// Preconditions: the lock is held.
func (l *link) readOn() {
	n := 0
	for ; n < len(l.unread) && l.reads < maxReads && !l.wounded; n++ {
		key := l.unread[n]
		r := l.receives.Find(key)
		r.posted = min(len(r.dst)-r.got, maxRead)
		at, got := regcache.RangeOf(r.dst).Start, uint64(r.got)
		if err := l.pair.Read(l.id(ofRead, uint32(key)), at+got, r.posted, r.region.Memory.Local, r.remote+got, r.remoteKey); err != nil {
			l.wound(err.Error())
		}
		l.reads++
	}
	l.unread = l.unread[:copy(l.unread, l.unread[n:])]
}

// partRead notes what was read, and ends a receive that has all.
//
// Preconditions: the lock is held.
func (l *link) partRead(key uint64) {
	r := l.receives.Find(key)
	if r.got += r.posted; r.got < len(r.dst) {
		l.unread = append(l.unread, key)
		return
	}
	c := control{header: header{kind: frameTaken, from: r.port.rank, to: r.from}, word: r.offer}
	l.endReceive(key, false)
	l.tell(c)
}

// endReceive ends a receive.
//
// Preconditions: the lock is held.
func (l *link) endReceive(key uint64, lost bool) {
	r := l.receives.Find(key)
	r.region.Release()
	r.port.events.Put(event{kind: carrier.Received, handle: r.handle, lost: lost})
	r.port.Bell().Ring()
	l.receives.Drop(key)
}

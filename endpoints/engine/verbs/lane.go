// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package verbs

import (
	"sync"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/frame"
	"github.com/tpsl/tpsl/ib/regcache"
	"github.com/tpsl/tpsl/ib/verbs/queue"
)

const (
	sendSlots = 32 // frames of a lane that are on their way
	maxReads  = 8  // parts of messages that are being read
	maxRead   = 1 << 30
)

// A lane connects a rail of this process with one of a peer's: a queue pair at each side. Who sends takes the lane of the
// rail that serves the receiver, so that each port finds all that is for it in the completions of its own rail.
type lane struct {
	link *link
	rail *rail // of this process

	lock   sync.Mutex
	pair   *queue.Pair // nil: no connection was ever wanted
	number uint32      // the pair's
	up     bool        // the peer's pair takes frames, too
	deaf   bool        // what comes makes no sense
	over   bool        // the link has ended

	memory     []byte // of frames to be sent
	at         uint64 // its address
	registered regcache.Memory
	free       []uint32 // slots of the memory
	watched    bool     // the rail's watch is to look for sends that are done, as a port of another rail waits for them

	early    []early   // that wait for the connection
	waiting  []control // for a slot
	sends    carrier.Slots[send]
	receives carrier.Slots[receive]
	unread   []uint64 // receives that are to be read on, by key
	reads    int      // that are posted
}

// An early frame waits in its slot for the connection.
type early struct {
	slot    uint32
	payload []byte
}

// A control is a frame other than a message. It has one word.
type control struct {
	frame.Header
	word uint64
}

// A send is an offer that has not been taken.
type send struct {
	buf    []byte
	region *regcache.Region
	handle uint64
	port   *Port
	to     int32
}

// A receive is a message that is read from its sender's memory.
type receive struct {
	dst       []byte
	region    *regcache.Region
	handle    uint64
	port      *Port
	from      int32
	offer     uint64 // the sender's key
	remote    uint64 // the message's address there
	remoteKey uint32
	got       int
	posted    int // bytes of the read that is under way
}

// prepare makes the pair and the memory of frames to be sent, unless that was done before.
func (a *lane) prepare() error {
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.pair != nil || a.over {
		return nil
	}
	r := a.rail
	return onNode(r.place, func() (err error) {
		if a.memory, a.at, a.registered, err = r.slotMemory(sendSlots); err != nil {
			return err
		}
		if a.pair, err = r.device.port.NewPair(r.completions, r.receives, sendSlots+maxReads); err != nil {
			r.dropMemory(a.memory, a.registered)
			return err
		}
		a.number = a.pair.Address().Number
		r.lanes.Store(a.number, a)
		for slot := range uint32(sendSlots) {
			a.free = append(a.free, slot)
		}
		return nil
	})
}

// end ends all that is under way by the lane. When the pair is stopped, the device does not reach buffers any more.
func (a *lane) end() {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.over, a.up = true, false
	if a.pair != nil {
		a.pair.Stop()
		a.rail.dropMemory(a.memory, a.registered)
	}
	a.watch(false)
	a.memory, a.free, a.early, a.waiting, a.unread = nil, nil, nil, nil, nil
	a.sends.Used(func(key uint64, _ *send) { a.endSend(key, true) })
	a.receives.Used(func(key uint64, _ *receive) { a.endReceive(key, true) })
}

// rise puts what has waited for the connection.
func (a *lane) rise() {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.up = true
	for _, e := range a.early {
		a.put(e.slot, e.payload)
	}
	a.early = nil
}

// isIdle tells whether the peer's device has all that was sent.
func (a *lane) isIdle() bool {
	a.lock.Lock()
	defer a.lock.Unlock()
	return a.over || a.pair == nil || len(a.waiting) == 0 && len(a.free) == sendSlots
}

// mayPut tells whether a frame can be put.
//
// Preconditions: the lock is held.
func (a *lane) mayPut() bool { return !a.over && !a.link.wounded.Load() && len(a.free) > 0 }

// begin takes a slot for a frame and encodes its header. The caller fills in the payload, and calls put.
//
// Preconditions: mayPut says so.
func (a *lane) begin(h frame.Header) (slot uint32, payload []byte) {
	slot = a.free[len(a.free)-1]
	a.free = a.free[:len(a.free)-1]
	size := a.rail.node.slotSize()
	b := a.memory[int(slot)*size:]
	h.Encode(b)
	return slot, b[frame.HeaderSize : frame.HeaderSize+int(h.Length)]
}

// put sends a frame, when the lane is up.
func (a *lane) put(slot uint32, payload []byte) {
	if !a.up {
		a.early = append(a.early, early{slot, payload})
		return
	}
	at := a.at + uint64(slot)*uint64(a.rail.node.slotSize())
	if err := a.pair.Send(id(ofSend, slot), at, frame.HeaderSize+len(payload), a.registered.Local); err != nil {
		a.link.wound(err.Error())
		return
	}
	a.link.sent.Add(1)
}

// tell puts a control of a port's as soon as it can be.
func (a *lane) tell(p *Port, c control) {
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.over {
		return
	}
	c.Length = frame.WordSize
	a.waiting = append(a.waiting, c)
	a.pump()
	a.watchFor(p)
}

// pump puts what waits.
//
// Preconditions: the lock is held.
func (a *lane) pump() {
	n := 0
	for ; n < len(a.waiting) && a.mayPut(); n++ {
		slot, payload := a.begin(a.waiting[n].Header)
		frame.SetWords(payload, a.waiting[n].word)
		a.put(slot, payload)
	}
	a.waiting = a.waiting[:copy(a.waiting, a.waiting[n:])]
	if len(a.waiting) == 0 && len(a.free) > 0 {
		a.watch(false)
	}
}

// watchFor has the lane looked after if a port of another rail waits for a slot. That port does not look for sends that are done here.
//
// Preconditions: the lock is held.
func (a *lane) watchFor(p *Port) {
	if p.rail != a.rail && a.pair != nil && (len(a.waiting) > 0 || len(a.free) == 0) {
		a.watch(true)
	}
}

func (a *lane) watch(want bool) {
	if want == a.watched {
		return
	}
	a.watched = want
	if want {
		a.rail.watch.Want()
	} else {
		a.rail.watch.Unwant()
	}
}

// done acts on the completion of a send or a read.
func (a *lane) done(c *queue.Completion) {
	a.lock.Lock()
	ended, any := a.completed(c)
	a.lock.Unlock()
	if any {
		a.link.notice(&ended)
	}
}

// completed is done, and returns a receive that has ended, if one has.
//
// Preconditions: the lock is held.
func (a *lane) completed(c *queue.Completion) (ended receive, any bool) {
	switch index := uint32(c.ID); {
	case a.over:
	case c.Status != queue.Fine:
		a.link.wound(c.Status.String())
	case c.ID>>62 == ofSend:
		a.free = append(a.free, index)
		a.pump()
	default:
		a.reads--
		ended, any = a.partRead(a.receives.Key(index))
		a.readOn()
	}
	return ended, any
}

// readOn posts reads of parts of messages, each message in its turn.
//
// Preconditions: the lock is held.
func (a *lane) readOn() {
	n := 0
	for ; n < len(a.unread) && a.reads < maxReads && !a.link.wounded.Load(); n++ {
		key := a.unread[n]
		r := a.receives.Find(key)
		r.posted = min(len(r.dst)-r.got, maxRead)
		at, got := regcache.RangeOf(r.dst).Start, uint64(r.got)
		if err := a.pair.Read(id(ofRead, uint32(key)), at+got, r.posted, r.region.Memory.Local, r.remote+got, r.remoteKey); err != nil {
			a.link.wound(err.Error())
		}
		a.reads++
	}
	a.unread = a.unread[:copy(a.unread, a.unread[n:])]
}

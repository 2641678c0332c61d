// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"errors"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/frame"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

const (
	bufferSize  = 256 << 10
	ackEvery    = 128 << 10 // bytes that come before they are acknowledged
	readsAtOnce = 8
)

// incoming is a link's stream from its peer.
type incoming struct {
	sync.Mutex
	socket   int    // -1: there is no connection
	received uint64 // bytes that have come, of all connections
	acked    uint64 // and this many the peer has been told of
	came     uint64 // frames that matter
	buffer   []byte // the bytes from first to last have come and are no whole frame yet; nil: none, and no connection
	first    int
	last     int
	into     uint64 // the receive, by key, whose data frame comes now; 0: none
	left     int    // bytes of the frame that are to come
	receives carrier.Slots[receive]
	owed     []atomic.Int64 // by port of this process: what it has not taken of its window
	rails    []inRail
}

// A receive is a message that comes in parts.
type receive struct {
	dst    []byte // what the message has room for and is long for
	handle uint64
	port   *Port
	from   int32
	offer  uint64 // the sender's key
	got    int
	came   []bool // by part, if it comes by rails
}

// open makes room for what comes by a connection.
func (in *incoming) open(b *carrier.Buffers) {
	if in.buffer == nil {
		in.buffer = b.Get(bufferSize)[:bufferSize]
	}
}

// read reads what has come, with a limit, and acts on it.
//
// Preconditions: in is locked.
func (l *link) read() {
	in := &l.in
	for range readsAtOnce {
		if in.socket < 0 {
			return
		}
		n, room, err := in.fill()
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return
		case err != nil || n == 0:
			l.broke()
			return
		}
		if !l.parse() {
			l.buryHeld(broken)
			return
		}
		if l.fate.Load() == fine && in.received-in.acked >= ackEvery {
			l.acknowledge()
		}
		if n < room {
			return
		}
	}
}

// fill reads once, into the receive of the data frame that comes and into the buffer.
func (in *incoming) fill() (n, room int, err error) {
	if in.first == in.last {
		in.first, in.last = 0, 0
	} else if len(in.buffer)-in.first < frame.HeaderSize+frame.MaxEager {
		in.last = copy(in.buffer, in.buffer[in.first:in.last])
		in.first = 0
	}
	rest := in.buffer[in.last:]
	if in.left == 0 { // else the buffer is empty
		n, err = unix.Read(in.socket, rest)
		if n > 0 {
			in.last += n
			in.received += uint64(n)
		}
		return n, len(rest), err
	}
	r := in.receives.Find(in.into)
	dst := r.dst[r.got : r.got+in.left]
	n, err = unix.Readv(in.socket, [][]byte{dst, rest})
	if n > 0 {
		in.received += uint64(n)
		direct := min(n, len(dst))
		in.last += n - direct
		in.left -= direct
		r.got += direct
	}
	return n, len(dst) + len(rest), err
}

// parse acts on all that has come whole, and tells whether it makes sense.
func (l *link) parse() bool {
	in := &l.in
	for {
		if !l.partOfData() {
			return true
		}
		b := in.buffer[in.first:in.last]
		if len(b) < frame.HeaderSize {
			return true
		}
		h := frame.Decode(b)
		if !fits(&h) || !l.isBetween(&h) {
			return false
		}
		size := frame.HeaderSize + int(h.Length)
		if h.Kind == frameData {
			size = frame.HeaderSize + frame.WordSize
		}
		if len(b) < size {
			return true
		}
		in.first += size
		if matters(&h) {
			in.came++
			if l.resting.Load() {
				l.awake()
			}
		}
		if !l.act(&h, b[frame.HeaderSize:size]) {
			return false
		}
		if l.fate.Load() != fine {
			return true // it was the last frame
		}
	}
}

// partOfData takes from the buffer what is of the data frame that comes, and tells whether that is
// all of it.
func (l *link) partOfData() bool {
	in := &l.in
	if in.left == 0 {
		if in.into != 0 {
			l.endOfData()
		}
		return true
	}
	r := in.receives.Find(in.into)
	n := copy(r.dst[r.got:r.got+in.left], in.buffer[in.first:in.last])
	r.got += n
	in.first += n
	if in.left -= n; in.left > 0 {
		return false
	}
	l.endOfData()
	return true
}

// endOfData ends a data frame, and the receive if that has all.
func (l *link) endOfData() {
	in := &l.in
	key := in.into
	in.into = 0
	if r := in.receives.Find(key); r.got == len(r.dst) {
		l.endReceive(key, r, false)
		l.acknowledge() // the sender waits for it
	}
}

func (l *link) endReceive(key uint64, r *receive, lost bool) {
	r.port.events.Put(event{kind: carrier.Received, handle: r.handle, lost: lost})
	r.port.Bell().Ring()
	l.in.receives.Drop(key)
}

// isBetween tells whether a frame is from a port of the peer to one of this process.
func (l *link) isBetween(h *frame.Header) bool {
	if h.Kind == frameAck || h.Kind == frameBye || h.Kind == frameRest {
		return true
	}
	return uint(int(h.From)-l.first) < uint(l.ports) && l.node.port(int(h.To)) != nil
}

// act does what a frame says, and tells whether it makes sense.
func (l *link) act(h *frame.Header, payload []byte) bool {
	switch h.Kind {
	case frameMessage, frameOffer:
		return l.arrived(h, payload)
	case frameData:
		key := frame.Word(payload, 0)
		r := l.in.receives.Find(key)
		n := int(h.Length) - frame.WordSize
		if r == nil || r.came != nil || r.from != h.From || r.port.rank != h.To || n > len(r.dst)-r.got {
			return false
		}
		l.in.into, l.in.left = key, n
		return true
	case framePart:
		return false // it belongs on a rail
	case frameBye:
		l.acknowledge()
		l.buryHeld(left)
		return true
	}
	l.out.Lock()
	defer l.out.Unlock()
	switch h.Kind {
	case framePull:
		return l.pulled(h, frame.Word(payload, 0), frame.Word(payload, 1), frame.Word(payload, 2))
	case frameCredit:
		credit := &l.out.credit[int(h.From)-l.first]
		more := frame.Word(payload, 0)
		if more > uint64(l.node.options.Window)-uint64(*credit) {
			return false
		}
		*credit += int64(more)
		return true
	case framePartCame:
		return l.partAcknowledged(h, frame.Word(payload, 0), frame.Word(payload, 1))
	case frameRest:
		return l.peerRests(frame.Word(payload, 0), frame.Word(payload, 1))
	default:
		return l.acknowledged(frame.Word(payload, 0))
	}
}

// arrived gives a message to its port, if that port owes the peer no more than its window.
func (l *link) arrived(h *frame.Header, payload []byte) bool {
	p := l.node.port(int(h.To))
	e := event{kind: carrier.Arrived, cell: carrier.Inline, header: *h}
	takes := frame.Cost(0)
	switch {
	case h.Kind == frameOffer:
		e.cell, e.words = carrier.Offer, [3]uint64{frame.Word(payload, 0), 0, frame.Word(payload, 1)}
		if int64(e.words[2]) <= 0 {
			return false
		}
	case len(payload) <= ring.Inline:
		takes = frame.Cost(len(payload))
		copy(e.inline[:], payload)
	default:
		takes = frame.Cost(len(payload))
		e.cell = carrier.Kept
	}
	if l.in.owed[p.index()].Add(takes) > int64(l.node.options.Window) {
		return false
	}
	if e.cell == carrier.Kept {
		e.payload = append(l.node.buffers.Get(len(payload)), payload...)
	}
	p.events.Put(e)
	p.Bell().Ring()
	return true
}

// acknowledge tells the peer how much has come.
//
// Preconditions: in is locked.
func (l *link) acknowledge() {
	in := &l.in
	in.acked = in.received
	l.out.Lock()
	defer l.out.Unlock()
	frame.SetWords(l.begin(frame.Header{Kind: frameAck, Length: frame.WordSize}), in.received)
	l.flush()
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"errors"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine/frame"
)

const (
	partSize   = 128 << 10    // bytes of a message that go by one rail together
	fromParts  = 2 * partSize // bytes of a message that goes by rails
	maxFlight  = 1 << 20      // bytes by a rail that are not acknowledged
	partHeader = frame.HeaderSize + 2*frame.WordSize
)

// Where a part of a message is: it waits, has come, or is with the rail of this number, and one more.
const (
	partWaits = 0
	partCame  = 255
)

// An outRail takes parts of messages to the peer. It takes the next part when the peer has got
// enough of the earlier ones, so each rail gets the share that it can carry.
type outRail struct {
	socket     int // -1: there is no connection
	dialling   bool
	waits      bool // for room in the socket
	header     [partHeader]byte
	head, body []byte // what is to be written of the present part
	key        uint64 // the send that it is of; 0: none
	flight     int    // bytes of parts that were not acknowledged
}

// Stripes are how a send goes by rails.
type stripes struct {
	parts   []uint8 // where each is; nil: the message goes by the stream
	next    int     // the first that was never sent
	again   []int   // those whose rails have ended
	left    int     // that have not come
	written int     // rails that are writing one: they need the buffer
	queued  bool    // the send is among those that have parts that wait
}

// stripe sends a message by rails.
//
// Preconditions: out is locked.
func (l *link) stripe(key uint64, s *send) {
	o := &l.out
	count := (s.wanted + partSize - 1) / partSize
	s.stripes = stripes{parts: make([]uint8, count), left: count, queued: true}
	if o.striping++; o.striping == 1 {
		o.railed = time.Now()
		l.node.watch.Want() // a rail goes on when parts are acknowledged, whether its sender calls or not
	}
	o.striped, o.unused = append(o.striped, key), 0
	l.drive()
}

// take returns the next part that waits.
func (s *stripes) take() (part int, found bool) {
	for len(s.again) > 0 {
		part = s.again[0]
		s.again = s.again[1:]
		if s.parts[part] == partWaits { // else it has come nevertheless
			return part, true
		}
	}
	if s.next == len(s.parts) {
		return 0, false
	}
	s.next++
	return s.next - 1, true
}

// partOf returns the bytes of a part.
func partOf(buf []byte, part int) []byte {
	return buf[part*partSize : min((part+1)*partSize, len(buf))]
}

// load begins with the next part, of each message in its turn, and tells whether there is one for a rail.
func (l *link) load(i int) bool {
	o, r := &l.out, &l.out.rails[i]
	for len(o.striped) > 0 && r.flight < maxFlight {
		key := o.striped[0]
		s := o.sends.Find(key)
		o.striped = slices.Delete(o.striped, 0, 1)
		part, found := s.take()
		if !found {
			s.queued = false
			continue
		}
		o.striped = append(o.striped, key)
		r.key, r.body, r.head = key, partOf(s.buf[:s.wanted], part), r.header[:]
		h := frame.Header{Kind: framePart, Length: uint32(2*frame.WordSize + len(r.body)), From: s.port.rank, To: s.to}
		h.Encode(r.head)
		frame.SetWords(r.head[frame.HeaderSize:], s.key, uint64(part))
		r.flight += len(r.body)
		s.parts[part] = uint8(1 + i)
		s.written++
		return true
	}
	return false
}

// writeParts writes by a rail what it has room for.
//
// Preconditions: out is locked.
func (l *link) writeParts(i int) {
	r := &l.out.rails[i]
	for r.socket >= 0 {
		if r.key == 0 && !l.load(i) {
			l.railWaits(i, false)
			return
		}
		n, err := unix.Writev(r.socket, [][]byte{r.head, r.body})
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			l.railWaits(i, true)
			return
		case err != nil:
			l.closeOut(i)
			return
		}
		ofHead := min(n, len(r.head))
		r.head, r.body = r.head[ofHead:], r.body[n-ofHead:]
		if len(r.body) == 0 {
			l.unload(i)
		}
	}
}

// unload ends the writing of a part, the whole of it or not.
func (l *link) unload(i int) {
	r := &l.out.rails[i]
	if r.key == 0 {
		return
	}
	key := r.key
	r.key, r.head, r.body = 0, nil, nil
	s := l.out.sends.Find(key)
	s.written--
	l.endStriped(key, s)
}

// endStriped ends a send of which all has come, when no rail needs its buffer any more.
func (l *link) endStriped(key uint64, s *send) {
	if s.left > 0 || s.written > 0 {
		return
	}
	o := &l.out
	if s.queued {
		o.striped = slices.DeleteFunc(o.striped, func(k uint64) bool { return k == key })
	}
	if o.striping--; o.striping == 0 {
		l.node.watch.Unwant()
	}
	l.endSend(key, false)
}

// partAcknowledged notes that a part has come, and tells whether that can be.
//
// Preconditions: out is locked.
func (l *link) partAcknowledged(h *frame.Header, key, part uint64) bool {
	o := &l.out
	s := o.sends.Find(key)
	if s == nil || s.to != h.From || s.port.rank != h.To || part >= uint64(s.next) || s.parts[part] == partCame {
		return false
	}
	if by := s.parts[part]; by != partWaits {
		o.rails[by-1].flight -= len(partOf(s.buf[:s.wanted], int(part)))
	}
	s.parts[part] = partCame
	s.left--
	l.endStriped(key, s)
	l.drive()
	return true
}

// closeOut ends a rail by which this side sends. What it has not brought goes by the others.
//
// Preconditions: out is locked.
func (l *link) closeOut(i int) {
	o, r := &l.out, &l.out.rails[i]
	if r.socket < 0 {
		return
	}
	closeRail(&r.socket)
	r.waits, r.flight, o.railed = false, 0, time.Now()
	o.sends.Used(func(key uint64, s *send) {
		for part, by := range s.parts {
			if by != uint8(1+i) {
				continue
			}
			s.parts[part] = partWaits
			s.again = append(s.again, part)
			if !s.queued {
				s.queued = true
				o.striped = append(o.striped, key)
			}
		}
	})
	l.unload(i)
	l.drive()
}

// closeRail closes a rail's socket. A watch that has just looked at it may keep the kernel from that until it wakes up.
func closeRail(socket *int) {
	_ = unix.Shutdown(*socket, unix.SHUT_RDWR)
	_ = unix.Close(*socket)
	*socket = -1
}

// railWaits has a rail looked after while its socket has no room.
func (l *link) railWaits(i int, waits bool) {
	if r := &l.out.rails[i]; r.waits != waits {
		r.waits = waits
		l.node.interest(r.socket, l.peer, sends(i), waits)
	}
}

// An inRail brings parts of messages from the peer.
type inRail struct {
	socket int // -1: there is no connection
	header [partHeader]byte
	got    int    // bytes of the next header
	key    uint64 // the receive that the present part is of; 0: none that waits for it
	part   int
	left   int // bytes of the present part that are to come; 0: there is none
}

// readParts reads what has come by a rail, with a limit.
//
// Preconditions: in is locked.
func (l *link) readParts(i int) {
	r := &l.in.rails[i]
	for range readsAtOnce {
		if r.socket < 0 {
			return
		}
		body, spare := l.placeOf(r)
		n, err := unix.Readv(r.socket, [][]byte{body, r.header[r.got:]})
		if spare {
			l.node.buffers.Put(body[:0])
		}
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return
		case err != nil || n == 0:
			l.closeIn(i)
			return
		}
		ofBody := min(n, len(body))
		r.got += n - ofBody
		if ofBody > 0 {
			if r.left -= ofBody; r.left == 0 {
				l.partCame(r)
			}
		}
		if r.got == partHeader {
			r.got = 0
			if !l.partBegins(r) {
				l.buryHeld(broken)
				return
			}
		}
	}
}

// placeOf returns where the rest of the present part belongs: spare memory, if it has come by another rail.
func (l *link) placeOf(r *inRail) (place []byte, spare bool) {
	if r.left == 0 {
		return nil, false
	}
	if to := l.in.receives.Find(r.key); to != nil && !to.came[r.part] {
		part := partOf(to.dst, r.part)
		return part[len(part)-r.left:], false
	}
	return l.node.buffers.Get(partSize)[:r.left], true
}

// partBegins acts on a part's header, and tells whether that makes sense. What nobody waits for has come by another rail.
func (l *link) partBegins(r *inRail) bool {
	h, key, part := frame.Decode(r.header[:]), frame.Word(r.header[frame.HeaderSize:], 0), frame.Word(r.header[frame.HeaderSize:], 1)
	if h.Kind != framePart || !fits(&h) || !l.isBetween(&h) {
		return false
	}
	r.key, r.left = 0, int(h.Length)-2*frame.WordSize
	to := l.in.receives.Find(key)
	if to == nil {
		return true
	}
	if to.came == nil && to.got == 0 && key != l.in.into { // else it comes by the stream, and no part is of it
		to.came = make([]bool, (len(to.dst)+partSize-1)/partSize)
	}
	if to.from != h.From || to.port.rank != h.To || part >= uint64(len(to.came)) || r.left != len(partOf(to.dst, int(part))) {
		return false
	}
	r.key, r.part = key, int(part)
	return true
}

// partCame acknowledges a part, unless another rail has brought it before.
func (l *link) partCame(r *inRail) {
	to := l.in.receives.Find(r.key)
	if to == nil || to.came[r.part] {
		return
	}
	to.came[r.part] = true
	to.got += len(partOf(to.dst, r.part))
	h := frame.Header{Kind: framePartCame, Length: 2 * frame.WordSize, From: to.port.rank, To: to.from}
	l.out.Lock()
	frame.SetWords(l.begin(h), to.offer, uint64(r.part))
	l.flush()
	l.out.Unlock()
	if to.got == len(to.dst) {
		l.endReceive(r.key, to, false)
	}
}

// closeIn ends a rail by which the peer sends.
//
// Preconditions: in is locked.
func (l *link) closeIn(i int) {
	r := &l.in.rails[i]
	if r.socket >= 0 {
		closeRail(&r.socket)
	}
	*r = inRail{socket: -1}
}

// closeRails ends all rails, and what goes by them.
//
// Preconditions: in and out are locked, and the fate is not fine.
func (l *link) closeRails() {
	for i := range l.out.rails {
		l.closeOut(i)
		l.closeIn(i)
	}
	if l.out.striping > 0 {
		l.node.watch.Unwant()
	}
	l.out.striped, l.out.striping = nil, 0
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/frame"
)

const (
	chunkSize = 64 << 10 // of memory for frames
	maxHeld   = 1 << 20  // bytes of frames that are kept; above, sends wait
	maxWrite  = 1 << 20  // bytes that one call writes at most, and that wait to be written
	maxPieces = 8        // of memory, in one system call
)

// outgoing is a link's stream to its peer. Positions count its bytes from the first one on:
//
//	0        acked          sent            end
//	├──────────┼──────────────┼──────────────┤
//	  forgotten  kept: a new    to be written
//	             connection may
//	             begin in here
type outgoing struct {
	sync.Mutex
	socket           int // -1: there is no connection
	acked, sent, end uint64
	due              uint64    // the end of what the peer must get
	asked            bool      // a connection is wanted, whatever there is to write
	segments         []segment // from acked on
	next             int       // the segment to write from
	held             int       // bytes of own memory
	chunk            []byte    // memory for frames: what is taken of it
	full             []chunk   // earlier ones
	waits            bool      // for room in the socket
	credit           []int64   // by port of the peer: how much more it takes
	sends            carrier.Slots[send]
	streams          []uint64 // sends whose receivers have pulled: by key

	rails    []outRail // none: all goes by the stream
	striped  []uint64  // sends that have parts for them, by key
	striping int       // sends that go by them
	railed   time.Time // when a rail ended last, or the first was wanted
	unused   int       // looks that found nothing to send by them
}

// A segment is a piece of a stream: memory with frames, or part of a message that is sent
// from its own buffer.
type segment struct {
	start uint64 // its position
	data  []byte
	own   bool
	ends  uint64 // the key of the send that is over when this is acknowledged; 0: none
}

func (s *segment) end() uint64 { return s.start + uint64(len(s.data)) }

// A chunk is memory with no room for more frames. Segments share it, so that the short frames before the
// parts of messages do not take one each.
type chunk struct {
	memory []byte
	end    uint64 // the position behind its last frame
}

// A send is an offer that has not been answered to the end.
type send struct {
	buf    []byte
	handle uint64
	port   *Port
	to     int32
	key    uint64 // the receiver's
	wanted int    // bytes; 0: it has not pulled
	sent   int
	stripes
}

// begin adds a frame with room for its payload, which the caller fills in.
func (l *link) begin(h frame.Header) (payload []byte) {
	o := &l.out
	size := frame.HeaderSize + int(h.Length)
	if h.Kind == frameData {
		size = frame.HeaderSize + frame.WordSize // the rest is a segment of its own
	}
	begins := len(o.segments) == 0 || !o.segments[len(o.segments)-1].own
	if cap(o.chunk)-len(o.chunk) < size {
		if o.chunk != nil {
			o.full = append(o.full, chunk{o.chunk, o.end})
		}
		o.chunk, begins = l.node.buffers.Get(max(size, chunkSize)), true
	}
	at := len(o.chunk)
	o.chunk = o.chunk[:at+size]
	if begins {
		o.segments = append(o.segments, segment{start: o.end, data: o.chunk[at:at], own: true})
	}
	s := &o.segments[len(o.segments)-1]
	s.data = s.data[:len(s.data)+size]
	o.end += uint64(size)
	o.held += size
	if matters(&h) {
		o.due = o.end
	}
	h.Encode(o.chunk[at:])
	return o.chunk[at+frame.HeaderSize:]
}

// flush writes what there is to write, as far as the socket has room, and not for ever. If there is no
// connection, and it takes one, it has that made.
func (l *link) flush() {
	o := &l.out
	if l.wants() {
		l.node.mend(l)
		return
	}
	for written := 0; o.socket >= 0 && !l.resting.Load(); {
		l.pump()
		if o.sent == o.end {
			l.waitForRoom(false)
			return
		}
		if written >= maxWrite {
			l.waitForRoom(true) // others have a turn
			return
		}
		n, err := o.write()
		switch {
		case err == nil:
			written += n
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			l.waitForRoom(true)
			return
		default:
			l.cut()
			return
		}
	}
}

// write writes once.
func (o *outgoing) write() (n int, err error) {
	var room [maxPieces][]byte
	pieces, at := room[:0], o.sent
	for i := o.next; i < len(o.segments) && len(pieces) < maxPieces; i++ {
		s := &o.segments[i]
		if at < s.end() {
			pieces = append(pieces, s.data[at-s.start:])
			at = s.end()
		}
	}
	if len(pieces) == 1 {
		n, err = unix.Write(o.socket, pieces[0])
	} else {
		n, err = unix.Writev(o.socket, pieces)
	}
	if n > 0 {
		o.sent += uint64(n)
		for o.next < len(o.segments)-1 && o.segments[o.next].end() <= o.sent {
			o.next++
		}
	}
	return n, err
}

// pump adds parts of messages that were pulled, so that there is enough to write: each
// message in its turn.
func (l *link) pump() {
	o := &l.out
	for len(o.streams) > 0 && o.end-o.sent < maxWrite {
		key := o.streams[0]
		s := o.sends.Find(key)
		n := min(s.wanted-s.sent, maxPart)
		frame.SetWords(l.begin(frame.Header{Kind: frameData, Length: uint32(frame.WordSize + n), From: s.port.rank, To: s.to}), s.key)
		part := segment{start: o.end, data: s.buf[s.sent : s.sent+n]}
		s.sent += n
		copy(o.streams, o.streams[1:])
		if s.sent == s.wanted {
			part.ends = key
			o.streams = o.streams[:len(o.streams)-1]
		} else {
			o.streams[len(o.streams)-1] = key
		}
		o.segments = append(o.segments, part)
		o.end += uint64(n)
		o.due = o.end
	}
}

// acknowledged forgets what the peer has, and tells whether it can have that.
func (l *link) acknowledged(position uint64) bool {
	o := &l.out
	if position > o.sent {
		return false
	}
	if position <= o.acked {
		return true // it was said again
	}
	o.acked = position
	first := 0
	for ; first < len(o.segments) && o.segments[first].end() <= position; first++ {
		s := &o.segments[first]
		if s.own {
			o.held -= len(s.data)
		}
		if s.ends != 0 {
			l.endSend(s.ends, false)
		}
	}
	o.segments = slices.Delete(o.segments, 0, first)
	o.next = max(o.next-first, 0)
	for len(o.full) > 0 && o.full[0].end <= position {
		l.node.buffers.Put(o.full[0].memory)
		o.full = slices.Delete(o.full, 0, 1)
	}
	if len(o.segments) == 0 {
		o.chunk = o.chunk[:0]
	}
	return true
}

// resume goes on writing on a new connection, from the position where the peer is.
func (l *link) resume(position uint64) bool {
	o := &l.out
	if position < o.acked || !l.acknowledged(position) {
		return false
	}
	o.sent, o.next = position, 0
	for o.next < len(o.segments)-1 && o.segments[o.next].end() <= position {
		o.next++
	}
	return true
}

// waitForRoom has the link looked after while its socket has no room.
func (l *link) waitForRoom(waits bool) {
	o := &l.out
	if o.waits == waits {
		return
	}
	o.waits = waits
	l.node.interest(o.socket, l.peer, ofStream, waits)
	if waits {
		l.node.watch.Want()
	} else {
		l.node.watch.Unwant()
	}
}

// pulled begins to send a message that was offered, to where it is wanted.
func (l *link) pulled(h *frame.Header, key, theirs, wanted uint64) bool {
	o := &l.out
	s := o.sends.Find(key)
	if s == nil || s.wanted != 0 || s.to != h.From || s.port.rank != h.To || wanted > uint64(len(s.buf)) {
		return false
	}
	if wanted == 0 {
		l.endSend(key, false)
		return true
	}
	s.key, s.wanted = theirs, int(wanted)
	if len(o.rails) > 0 && s.wanted >= fromParts {
		l.stripe(key, s)
		return true
	}
	o.streams = append(o.streams, key)
	l.flush()
	return true
}

func (l *link) endSend(key uint64, lost bool) {
	s := l.out.sends.Find(key)
	s.port.events.Put(event{kind: carrier.Sent, handle: s.handle, lost: lost})
	s.port.Bell().Ring()
	l.out.sends.Drop(key)
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"encoding/binary"
	"errors"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

// A send is an offer to a peer that has not been answered to the end.
type send struct {
	buf    []byte
	handle uint64
	place         // of the receiver
	asked  bool   // the receiver cannot read the buffer: it is sent in parts
	key    uint64 // the receiver's, for the parts
	wanted int
	sent   int
}

// A receive is a message that comes in parts.
type receive struct {
	dst    []byte // what the message has room for and is long for
	handle uint64
	place  // of the sender
	got    int
}

// Fetch takes a message that has arrived into dst, as far as that has room. If it
// is done, all is there, unless the sender is gone, which is the error; else it comes in
// parts, and the buffer belongs to the port until Poll returns Received with the handle.
func (p *Port) Fetch(c *ring.Cell, dst []byte, handle uint64) (done bool, err error) {
	dst = dst[:min(len(dst), carrier.Bytes(c))]
	from := p.node.places[c.Source]
	switch c.Kind {
	case carrier.Inline:
		copy(dst, c.Inline[:])
		return true, nil
	case carrier.Kept:
		number := packetIn(c, 0)
		copy(dst, p.node.peers[from.process].segment.packetAt(int(from.port), number))
		p.giveBack(from, number)
		return true, nil
	}
	if p.gone[from.process] {
		return true, p.node.goneError(int(c.Source))
	}
	if len(dst) == 0 || p.node.peers[from.process].direct.Load() {
		if done, err := p.fetchDirect(from, c, dst); done {
			return done, err
		}
	}
	key, r := p.receives.Take()
	*r = receive{dst: dst, handle: handle, place: from}
	p.answer(control{place: from, kind: cellAsk, words: [3]uint64{carrier.Word(c, 0), key, uint64(len(dst))}})
	return false, nil
}

// giveBack gives a packet back to the port that sent it, which may wait for one.
func (p *Port) giveBack(from place, number int) {
	peer := &p.node.peers[from.process]
	peer.segment.returned(int(from.port)).Or(1 << number)
	peer.bells[from.port].Ring()
}

// fetchDirect copies a message straight out of its sender's memory, then tells the
// sender. It is not done where the kernel does not allow that any more.
func (p *Port) fetchDirect(from place, c *ring.Cell, dst []byte) (done bool, err error) {
	peer := &p.node.peers[from.process]
	err = readMemory(peer.pid, carrier.Word(c, 1), dst)
	switch {
	case errors.Is(err, unix.EPERM):
		peer.direct.Store(false)
		return false, nil
	case len(dst) > 0 && !peer.lives():
		p.node.condemn(int(from.process), ended)
	case err != nil:
		p.node.condemn(int(from.process), broken) // it offered what is not there
	default:
		p.answer(control{place: from, kind: cellDone, words: [3]uint64{carrier.Word(c, 0)}})
		return true, nil
	}
	return true, p.node.goneError(int(c.Source))
}

// readMemory fills dst with another process's memory.
func readMemory(pid int, address uint64, dst []byte) error {
	for len(dst) > 0 {
		local := [1]unix.Iovec{{Base: &dst[0], Len: uint64(len(dst))}}
		remote := [1]unix.RemoteIovec{{Base: uintptr(address), Len: len(dst)}}
		n, err := unix.ProcessVMReadv(pid, local[:], remote[:], 0)
		if err != nil {
			return err
		}
		if n <= 0 {
			return unix.EFAULT
		}
		dst, address = dst[n:], address+uint64(n)
	}
	return nil
}

// readable tries whether this process may read another one's memory, at an address
// where that has put the magic number.
func readable(pid int, address uint64) bool {
	var got [8]byte
	return readMemory(pid, address, got[:]) == nil && binary.LittleEndian.Uint64(got[:]) == magic
}

// asked is the answer of a receiver that cannot read this process's memory.
func (p *Port) asked(from place, key, theirs, wanted uint64) bool {
	s := p.sends.Find(key)
	if s == nil || s.place != from || s.asked || wanted == 0 || wanted > uint64(len(s.buf)) {
		return false
	}
	s.asked, s.key, s.wanted = true, theirs, int(wanted)
	p.streams = append(p.streams, uint32(key))
	return true
}

// stream sends parts while there are packets and room, and tells whether all are sent.
func (p *Port) stream(index uint32) bool {
	key := p.sends.Key(index)
	s := p.sends.Find(key)
	for s.sent < s.wanted {
		number, memory := p.packets.takePart(s.process)
		if memory == nil {
			return false
		}
		n := copy(memory, s.buf[s.sent:s.wanted])
		if !p.post(&control{place: s.place, kind: cellPart, length: uint32(n), words: [3]uint64{s.key, uint64(number)}}) {
			p.packets.untake(number)
			return false
		}
		s.sent += n
	}
	s.asked = false // flush, which called, takes it off the streams
	p.endSend(key, s, false)
	return true
}

// part takes a part of a message.
func (p *Port) part(from place, key uint64, number, length int) bool {
	r := p.receives.Find(key)
	if r == nil || r.place != from || number >= packetsPer {
		return false
	}
	memory := p.node.peers[from.process].segment.packetAt(int(from.port), number)
	if length == 0 || length > len(memory) || length > len(r.dst)-r.got {
		return false
	}
	r.got += copy(r.dst[r.got:], memory[:length])
	p.giveBack(from, number)
	if r.got == len(r.dst) {
		p.endReceive(key, r, false)
	}
	return true
}

// read is the answer of a receiver that has read this process's memory.
func (p *Port) read(from place, key uint64) bool {
	s := p.sends.Find(key)
	if s == nil || s.place != from || s.asked {
		return false
	}
	p.endSend(key, s, false)
	return true
}

func (p *Port) endSend(key uint64, s *send, lost bool) {
	if s.asked {
		p.streams = slices.DeleteFunc(p.streams, func(i uint32) bool { return i == uint32(key) })
	}
	p.finished.push(ending{kind: carrier.Sent, handle: s.handle, lost: lost})
	p.sends.Drop(key)
}

func (p *Port) endReceive(key uint64, r *receive, lost bool) {
	p.finished.push(ending{kind: carrier.Received, handle: r.handle, lost: lost})
	p.receives.Drop(key)
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import "sync/atomic"

// A large message is copied once, from buffer to buffer, by the thread that has brought
// send and receive together. If it is large enough, the thread of the other side copies
// too while it waits: both claim chunks from one counter, and who ends last completes
// both operations.

// share is a copy that two sides take part in. It lies in the op of the one that was
// found: the other touches it only while it still has a chunk of its own to add.
type share struct {
	claimed atomic.Uint64 // bytes that somebody copies or has copied
	copied  atomic.Uint64 // bytes of those who have ended
	total   uint64        // all
	partner *op
}

// chunk is what one side copies at a time: as much as makes Go's memmove write past the
// caches. Lines that another core has written are slow to fetch if that core is far away:
// 4 MiB in chunks of 64 KiB went at 36 GB/s between near cores, and at 3.4 between far
// ones, where these go at 25.
const chunk = 1 << 20

// transfer copies between an op of this port and the op of a peer that it has matched,
// and completes both.
func (p *Port) transfer(own, found *op) {
	p.agree(own, found)
	found.copyFrom(0)
}

// agree notes in both ops what is to be copied; the first chunk is the caller's.
func (p *Port) agree(own, found *op) {
	s, r := own, found
	if s.kind != opSend {
		s, r = r, s
	}
	r.bytes, r.outcome = len(s.buf), fine
	if r.bytes > len(r.buf) {
		r.bytes, r.outcome = len(r.buf), truncated
	}
	sh := &found.share
	sh.total, sh.partner = uint64(r.bytes), own
	sh.copied.Store(0)
	sh.claimed.Store(chunk) // so that the copy cannot end before the caller
	own.underWay()
	found.shared = r.bytes >= p.fabric.options.Halves
	found.decide(found.turn, matched)
}

// help copies chunks for an op whose thread has nothing else to do.
func (o *op) help() {
	if !o.is(matched) || !o.shared {
		return
	}
	if at := o.share.claimed.Add(chunk) - chunk; at < o.share.total {
		o.port.fabric.helped.Add(1)
		o.copyFrom(at)
	}
}

// copyFrom copies the chunk at an offset, which is claimed, and all that it can claim.
// Until it adds up what it copied, neither op is done; then nobody touches them but who
// was last.
func (o *op) copyFrom(at uint64) {
	sh, s, r := &o.share, o, o.share.partner
	if s.kind != opSend {
		s, r = r, s
	}
	var sum uint64
	n := sh.total
	for ; at < n; at = sh.claimed.Add(chunk) - chunk {
		sum += uint64(copy(r.buf[at:min(at+chunk, n)], s.buf[at:]))
	}
	if sh.copied.Add(sum) == n {
		s.complete(fine)
		r.complete(r.outcome)
		f := s.port.fabric // either side may sleep
		f.peers[s.port.rank].wake()
		f.peers[r.port.rank].wake()
	}
}

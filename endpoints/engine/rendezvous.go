// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import "sync/atomic"

// A large message is copied once, from buffer to buffer, by the thread that matched
// it. If it is large enough, the other side's thread copies too while it waits: both
// claim chunks from one counter, and who ends last completes both operations.

// share is the copy of a large send in progress: one cache line.
type share struct {
	claimed atomic.Uint64 // bytes that somebody copies or has copied
	copied  atomic.Uint64 // bytes of those who have ended
	to      []byte        // empty but while a send is matched
	partner *op           // the receive
	_       [16]byte
}

// chunk is what one side copies at a time.
const chunk = 64 << 10

// transfer copies from a send that was taken to its receive, whose fields say already
// what comes, and completes both.
func (p *Port) transfer(s, r *op) {
	n := r.bytes
	if n < p.fabric.options.Halves {
		s.decide(s.turn, matched)
		copy(r.buf[:n], s.buf)
		s.complete(fine)
		p.fabric.peers[r.source].wake()
		r.complete(r.outcome)
		return
	}
	sh := &s.share
	sh.to, sh.partner = r.buf[:n], r
	sh.copied.Store(0)
	sh.claimed.Store(chunk) // the first chunk is ours: the send cannot end before us
	s.decide(s.turn, matched)
	s.copyFrom(0)
}

// help copies chunks of a large send that is matched, on the thread that waits for it.
func (s *op) help() {
	if s.kind != opSend || !s.is(matched) || s.share.to == nil {
		return
	}
	if at := s.share.claimed.Add(chunk) - chunk; at < uint64(len(s.share.to)) {
		s.copyFrom(at)
	}
}

// copyFrom copies the chunk at an offset, which is claimed, and all that it can claim.
// Until it adds up what it copied, neither operation is done; after that they are not
// touched but by who was last.
func (s *op) copyFrom(at uint64) {
	var sum uint64
	n := uint64(len(s.share.to))
	for ; at < n; at = s.share.claimed.Add(chunk) - chunk {
		sum += uint64(copy(s.share.to[at:min(at+chunk, n)], s.buf[at:]))
	}
	if s.share.copied.Add(sum) == n {
		// Either may sleep, and may be used again when it is done.
		f, r, from, to := s.port.fabric, s.share.partner, s.port.rank, s.source
		s.complete(fine)
		r.complete(r.outcome)
		f.peers[from].wake()
		f.peers[to].wake()
	}
}

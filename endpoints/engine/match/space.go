// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package match

import "sync/atomic"

// A space is the buckets that a table has until it grows. Those behind the home buckets take what overflows; while
// they are not in use they are a stack in the array itself: a word of 32 bits of index and 32 that change with every
// operation, so that a word read before others took and returned the same bucket
// does not compare equal.
type space struct {
	buckets []bucket // home buckets, then those for overflow
	shift   uint8    // 64 less the binary logarithm of the number of home buckets
	_       [line]byte

	spare atomic.Uint64 // stack of spare buckets
	_     [line]byte
}

// newSpace makes 2^logSize empty home buckets and a quarter of that for overflow.
// On average one to two nodes share a home bucket, and 2 to 7 % of them overflow.
func newSpace(logSize int) *space {
	home := 1 << logSize
	s := &space{shift: uint8(64 - logSize), buckets: aligned[bucket](home + home/4 + 1)}
	for i := len(s.buckets) - 1; i >= home; i-- {
		s.giveBack(uint32(i), &s.buckets[i])
	}
	return s
}

// homes returns the home buckets.
func (s *space) homes() []bucket { return s.buckets[:uint64(1)<<(64-s.shift)] }

func (s *space) home(e Envelope) *bucket { return &s.buckets[e.hash()>>s.shift] }

// larger returns a space of twice the size, or more if that has no room, with the same entries.
func (s *space) larger() *space {
	for logSize := 65 - int(s.shift); ; logSize++ {
		if twice := newSpace(logSize); twice.refill(s) {
			return twice
		}
	}
}

// refill puts in the entries of another space, or returns false if there is no room.
func (s *space) refill(other *space) bool {
	for i := range other.buckets {
		for _, e := range other.buckets[i].entry {
			if e.value == 0 {
				continue
			}
			home := s.home(e.key)
			_, free := s.find(home, e.key)
			if free == nil {
				free = s.overflow(home)
			}
			if free == nil {
				return false
			}
			*free = e
		}
	}
	return true
}

// overflow chains a fresh bucket to home and returns one of its entries, or nil.
func (s *space) overflow(home *bucket) *entry {
	for {
		word := s.spare.Load()
		i := uint32(word)
		if i == 0 {
			return nil
		}
		b := &s.buckets[i]
		if s.spare.CompareAndSwap(word, (word>>32+1)<<32|uint64(b.link.Load())) {
			b.next, home.next = home.next, i
			return &b.entry[0]
		}
	}
}

// trim gives back the empty buckets that home overflows to.
func (s *space) trim(home *bucket) {
	for b := home; b.next != 0; {
		i := b.next
		o := &s.buckets[i]
		if !o.empty() {
			b = o
			continue
		}
		b.next = o.next
		s.giveBack(i, o)
	}
}

func (s *space) giveBack(i uint32, b *bucket) {
	for {
		word := s.spare.Load()
		b.link.Store(uint32(word))
		if s.spare.CompareAndSwap(word, (word>>32+1)<<32|uint64(i)) {
			return
		}
	}
}

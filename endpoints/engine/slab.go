// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import "sync"

// slabSize is how many ops, or seats, of 256 bytes are allocated at once: more than
// 32 KiB, which Go's allocator starts on a page, so that each lies on lines of its own.
const slabSize = 256

// A slab is where the ports of a fabric have their ops or seats from, a few at a time.
// Nothing is given back.
type slab[T op | seat] struct {
	lock sync.Mutex // taken as a port's pool is extended, which is no message's business
	free []T
}

// take returns n more.
func (s *slab[T]) take(n int) []T {
	s.lock.Lock()
	defer s.lock.Unlock()
	if len(s.free) < n {
		s.free = make([]T, max(n, slabSize))
	}
	taken := s.free[:n:n]
	s.free = s.free[n:]
	return taken
}

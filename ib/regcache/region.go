// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package regcache

import "sync/atomic"

// The state of a region: flags, and how many users it has. Who joined while a flag was
// set is none, and leaves.
const (
	pending uint64 = 1 << 61 // being registered
	stale   uint64 = 1 << 62 // nobody may join any more; never taken back
	dead    uint64 = 1 << 63 // whoever set this deregisters
	users   uint64 = 1<<32 - 1
)

// A Region is registered memory, one cache line. Only its last two words change.
type Region struct {
	Range  Range // whole pages
	Access Access
	Memory Memory

	cache *Cache
	state atomic.Uint64
	used  atomic.Uint64 // the cache's clock when a user left last
}

// join makes the caller a user, if the region is in service. One that is not is left
// again at once, and deregistered if all others left it in between.
func (r *Region) join() bool {
	if r.state.Add(1)&^users == 0 {
		return true
	}
	r.Release()
	return false
}

// Release gives back what Acquire returned, once.
func (r *Region) Release() {
	c := r.cache
	r.used.Store(c.clock.Load())
	s := r.state.Add(^uint64(0))
	if s&users == users {
		panic("regcache: region " + r.Range.String() + " released more often than acquired")
	}
	r.reap()
	if c.dirty.Load() && c.misses.TryLock() {
		c.sweep()
		c.misses.Unlock()
	}
}

// reap deregisters a stale region without users, unless another thread does.
func (r *Region) reap() {
	if r.state.Load() == stale && r.state.CompareAndSwap(stale, stale|dead) {
		r.cache.registrar.Deregister(r.Memory)
		r.cache.bytes.Add(-r.Range.Len())
		r.cache.regions.Add(-1)
	}
}

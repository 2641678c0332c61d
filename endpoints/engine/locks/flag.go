// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package locks

import "sync/atomic"

// Flag is a lock of one word, without a queue and so in no order: the cheapest where
// threads rarely meet, and fit for Try, which makes no promise to a thread that leaves.
type Flag struct{ held atomic.Uint32 }

// Try takes the lock if it is free. It looks first, for a failed exchange takes
// the cache line from the holder.
func (f *Flag) Try() bool { return f.held.Load() == 0 && f.held.CompareAndSwap(0, 1) }

// Acquire takes the lock.
func (f *Flag) Acquire() {
	if !f.held.CompareAndSwap(0, 1) {
		f.wait()
	}
}

// wait is apart so that the compiler inlines Acquire.
func (f *Flag) wait() {
	for s := (Spin{}); !f.Try(); {
		s.Pause()
	}
}

// Release frees the lock.
func (f *Flag) Release() { f.held.Store(0) }

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package spin

import (
	"sync/atomic"

	"github.com/tpsl/tpsl/endpoints/engine/locks"
)

// Lock is free when zero. It takes 4 bytes of the line of what it guards.
type Lock struct{ word atomic.Uint32 }

// Lock waits until the lock is free and takes it.
func (l *Lock) Lock() {
	if !l.TryLock() {
		l.wait()
	}
}

// TryLock takes the lock if it is free.
func (l *Lock) TryLock() bool { return l.word.CompareAndSwap(0, 1) }

// Unlock frees the lock. Preconditions: the caller holds it.
func (l *Lock) Unlock() { l.word.Store(0) }

// wait reads, which leaves the line with its holder, until trying may help.
func (l *Lock) wait() {
	var s locks.Spin
	for l.word.Load() != 0 || !l.TryLock() {
		s.Pause()
	}
}

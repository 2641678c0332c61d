// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package fult

import "sync/atomic"

// Bell wakes a worker that sleeps. Whoever brings work by another way than a Bit
// (a message for a port that the worker polls) rings after it: one load while
// the worker is awake, one system call when it sleeps.
type Bell struct {
	asleep atomic.Uint32
	park   chan struct{} // of a Sleeper, which is a goroutine; nil: a worker sleeps in the kernel
	_      [48]byte      // alone on its cache line: read with each signal, written at sleep
}

// Ring wakes the worker if it sleeps or is about to.
func (b *Bell) Ring() {
	if b.asleep.Load() != 0 && b.asleep.CompareAndSwap(1, 0) {
		if b.park != nil {
			b.park <- struct{}{} // there is room: one for each time that the sleeper lies down
			return
		}
		futexWake(&b.asleep)
	}
}

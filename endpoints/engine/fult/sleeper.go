// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package fult

import (
	"sync/atomic"
	"time"
)

// Sleeper is a goroutine that waits by itself, without a worker, for what signals
// worker's threads: a Bit. It parks on a channel, for one that sleeps in the kernel
// keeps its processor of Go's for up to 10 ms. Two cache lines; the second is the bell.
type Sleeper struct {
	word, hint atomic.Uint64
	timer      *time.Timer // made with the bell's channel, by the first Wait
	_          [40]byte
	bell       Bell
}

// Bit is what signals the sleeper.
func (s *Sleeper) Bit() Bit {
	return Bit{word: &s.word, mask: 1, hint: &s.hint, hintMask: 1, bell: &s.bell}
}

// Wait sleeps until a signal, or for the limit at most, and tells whether a signal
// came since it last returned. The caller looks at the flag that goes with the
// signal after each return.
func (s *Sleeper) Wait(limit time.Duration) (signalled bool) {
	if s.timer == nil {
		s.timer, s.bell.park = time.NewTimer(limit), make(chan struct{}, 1)
	}
	s.bell.asleep.Store(1)
	if s.hint.Load() == 0 {
		s.timer.Reset(limit)
		select {
		case <-s.bell.park:
			return s.hint.Swap(0) != 0
		case <-s.timer.C:
		}
	}
	if !s.bell.asleep.CompareAndSwap(1, 0) {
		<-s.bell.park // who rang is about to say so
	}
	return s.hint.Swap(0) != 0
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package fult

import (
	"sync/atomic"
	"time"
)

// Sleeper is an OS thread that waits by itself, without a worker, for what signals
// worker's threads: a Bit. Two cache lines; the second is the bell.
type Sleeper struct {
	word, hint atomic.Uint64
	_          [48]byte
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
	s.bell.asleep.Store(1)
	if s.hint.Load() == 0 {
		futexWait(&s.bell.asleep, 1, limit)
	}
	s.bell.asleep.Store(0)
	return s.hint.Swap(0) != 0
}

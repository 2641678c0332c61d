// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package locks

import (
	"runtime"
	"sync/atomic"
	"time"
)

// A waiting thread first looks again at once, then lets others run, then sleeps.
// What it waits for is mostly a few dozen instructions of a thread that runs. If
// that thread does not run, looking keeps it from running: with more threads than
// CPUs the wait is as long as the time until it is scheduled, which yielding
// shortens. Sleep bounds what a wait of any length costs.
const (
	spins  = 256
	yields = 2048                  // 0.2 ms of nothing else to run, more if there is
	nap    = 50 * time.Microsecond // what the kernel makes of any shorter one
)

// Spin is one wait: a loop looks, and calls Pause each time it has looked in vain.
type Spin struct{ looked uint32 }

// Pause passes the time until the next look.
func (s *Spin) Pause() {
	s.looked++
	switch {
	case s.looked <= spins:
	case s.looked <= spins+yields:
		runtime.Gosched()
	default:
		s.looked = spins + yields
		time.Sleep(nap)
	}
}

// await waits until another thread has written what becomes of this one, and puts
// the word at rest.
func await(state *atomic.Uint32) uint32 {
	var s Spin
	for {
		if what := state.Load(); what != waiting {
			state.Store(waiting)
			return what
		}
		s.Pause()
	}
}

// linked waits for a thread that has swapped itself into a queue, which settles
// its place, and has not yet shown the thread before where it is.
func linked[N any](next *atomic.Pointer[N]) *N {
	var s Spin
	for {
		if n := next.Load(); n != nil {
			return n
		}
		s.Pause()
	}
}

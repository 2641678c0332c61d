// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package fult

import "time"

const (
	spinTime = 20 * time.Microsecond // about what a sleep and a wake-up cost
	looks    = 20                    // between two looks at the clock, which take longer
	firstNap = 50 * time.Microsecond // of a worker that polls; each that nothing ends early is twice as long
	lastNap  = time.Millisecond
)

// rest waits until a thread may be ready: it spins a while, then sleeps. The bell
// is armed before the last look, so that a signal after the look finds it armed.
func (w *Worker) rest() {
	for start := time.Now(); time.Since(start) < spinTime; {
		for range looks {
			if w.awake() {
				return
			}
		}
	}
	w.bell.asleep.Store(1)
	if !w.awake() {
		limit := min(w.nap, w.longest)
		if w.Poll == nil {
			limit = 0 // for ever: a signal rings
		}
		futexWait(&w.bell.asleep, 1, limit)
		w.nap = min(2*w.nap, lastNap)
	}
	w.bell.asleep.Store(0)
}

// awake tells whether there is something to do.
func (w *Worker) awake() bool {
	return w.ready.any() || w.stop.Load() || w.Poll != nil && w.Poll()
}

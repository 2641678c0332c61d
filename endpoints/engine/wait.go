// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"runtime"
	"time"
)

// How a thread passes the time until something moves: it polls, then lets others run,
// then sleeps. With more ports than processors the one waited for may need this one.
const (
	longSpin  = 20000 // polls if every port has a processor: 0.2 ms, a copy of 4 MiB
	shortSpin = 50
	yields    = 200
	nap       = 20 * time.Microsecond
)

// A waiter counts the vain polls of one wait.
type waiter struct {
	polls  int
	helped int // the last port that was helped, counted from the waiting one on
}

func (w *waiter) reset() { w.polls = 0 }

// sleeps tells whether the wait is so long that the thread sleeps between its polls.
func (w *waiter) sleeps(f *Fabric) bool { return w.polls >= f.spins+yields }

// pause passes a little time.
func (w *waiter) pause(f *Fabric) {
	w.polls++
	switch {
	case w.polls < f.spins:
	case w.polls < f.spins+yields:
		runtime.Gosched()
	default:
		time.Sleep(nap)
	}
}

// idle passes the time of a thread whose poll moved nothing: a user-level thread lets
// the others of its worker run.
func (p *Port) idle(w *waiter) {
	if t := p.thread(); t != nil {
		t.Yield()
		return
	}
	if p.help(w) {
		w.reset()
	}
	w.pause(p.fabric)
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package fult

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
)

// ErrFull is what Create returns if the worker has as many threads as it was made for.
var ErrFull = errors.New("fult: the worker is full")

// Worker runs threads on one OS thread.
type Worker struct {
	// Poll, if set, is called again and again while no thread is ready, and after
	// 256 switches at the latest while some are: it looks whether something came and
	// says so. It must not wait. What it polls should ring the worker's Bell; if it
	// does not, a sleeping worker is late by a millisecond at most.
	Poll func() bool

	ready   *ready
	bell    *Bell
	current *Thread
	parked  *Thread // who gave way to the current one
	fresh   *Thread // taken from the set, to be started by the worker's goroutine
	main    Thread  // the worker's own goroutine, which sits in a seat while threads run
	turns   int     // switches until main has its turn
	done    bool    // threads that run unwind
	goexit  bool
	err     error
	stop    atomic.Bool

	chunks  []*chunk
	free    []int32 // numbers of threads that ended
	created int     // numbers below were given to threads
	limit   int
	live    int
	cpu     int
	nap     time.Duration // how long it sleeps next if it polls
	longest time.Duration // how long at most
}

// chunk holds lineThreads threads, in the order of their bits.
type chunk struct {
	threads [lineThreads]Thread
	run     [lineThreads]func(*Thread) // until they start
}

const (
	unpinned = -1
	turn     = 256
)

// NewWorker returns a worker for at most the given number of threads at a time.
func NewWorker(threads int) *Worker {
	threads = max(threads, 1)
	return &Worker{
		ready: newReady(threads), bell: new(Bell), limit: threads, cpu: unpinned, nap: firstNap, longest: lastNap,
		chunks: make([]*chunk, (threads+lineThreads-1)/lineThreads),
	}
}

// Pin has Run bind its OS thread to a CPU.
func (w *Worker) Pin(cpu int) { w.cpu = cpu }

// Bell is what wakes the worker when it sleeps.
func (w *Worker) Bell() *Bell { return w.bell }

// Current is the thread that runs, nil outside threads.
func (w *Worker) Current() *Thread {
	if w.current == &w.main {
		return nil
	}
	return w.current
}

// Create makes a thread that is ready to run.
//
// Preconditions: called before Run, or by one of the worker's threads.
func (w *Worker) Create(run func(*Thread)) (*Thread, error) {
	id := w.created
	switch last := len(w.free) - 1; {
	case last >= 0:
		id = int(w.free[last])
		w.free = w.free[:last]
	case id == w.limit:
		return nil, fmt.Errorf("%w: %d threads", ErrFull, w.limit)
	default:
		w.created++
	}
	c := &w.chunks[id/lineThreads]
	if *c == nil {
		*c = new(chunk)
	}
	t := &(*c).threads[id%lineThreads]
	*t = Thread{worker: w, id: int32(id)}
	(*c).run[id%lineThreads] = run
	w.live++
	b := t.Bit()
	b.Set()
	return t, nil
}

// SignalAll signals every thread.
//
// Preconditions: called on the worker's OS thread, by Poll or a thread.
func (w *Worker) SignalAll() {
	for id := range w.created {
		b := w.ready.bit(id, w.bell)
		b.Set()
	}
}

// thread returns the thread of a number that was given.
func (w *Worker) thread(id int) *Thread {
	return &w.chunks[id/lineThreads].threads[id%lineThreads]
}

// end takes a thread away.
func (w *Worker) end(t *Thread) {
	w.free = append(w.free, t.id)
	w.live--
	*t = Thread{}
}

// Run runs the threads on the caller's OS thread until all have ended, one has
// panicked, or Stop; those that have not ended by then are unwound. A thread's
// runtime.Goexit, which t.FailNow of a test calls, ends the caller likewise. A
// worker runs once.
func (w *Worker) Run() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if w.cpu != unpinned {
		unpin, err := pin(w.cpu)
		if err != nil {
			return err
		}
		defer unpin()
	}
	defer w.unwind() // again, for a thread's runtime.Goexit that goes on here
	for w.live > 0 && !w.stop.Load() {
		w.turns = turn
		ran := w.give()
		if came := w.Poll != nil && w.Poll(); ran || came {
			w.nap = firstNap
		} else {
			w.rest()
		}
	}
	w.unwind()
	if w.goexit {
		runtime.Goexit()
	}
	return w.err
}

// Stop ends Run after 256 switches more at most.
func (w *Worker) Stop() {
	w.stop.Store(true)
	w.bell.Ring()
}

// give gives way to a thread that is ready, if there is one, and returns as the
// worker's goroutine has its next turn.
func (w *Worker) give() bool {
	next := w.fresh
	if next == nil {
		next = w.pick()
	}
	if w.fresh != nil {
		next, w.fresh = w.fresh, nil
		w.start(next)
	}
	if next == &w.main {
		return false
	}
	w.exchange(&w.main, next)
	return true
}

// fail keeps the first reason why the run cannot go on.
func (w *Worker) fail(err error) {
	if w.err == nil {
		w.err = err
	}
	w.turns = 0
	w.stop.Store(true)
}

// unwind ends the threads that are left. As one ends, its coroutine brings back
// who sat there, which ends, too, and so on to the worker's goroutine.
func (w *Worker) unwind() {
	w.done = true
	for id := range w.created {
		switch t := w.thread(id); {
		case t.worker == nil:
		case t.seat.next == nil:
			w.end(t)
		default:
			w.exchange(&w.main, t)
		}
	}
}

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
	// Poll, if set, is called once a pass over the ready threads and again and
	// again while there are none: it looks whether something came and says so. It
	// must not wait. What it polls should ring the worker's Bell; if it does not,
	// a sleeping worker is late by a millisecond at most.
	Poll func() bool

	ready   *ready
	bell    *Bell
	current *Thread
	chunks  [][]Thread // of lineThreads each
	free    []int      // numbers of threads that ended
	created int        // threads were ever numbered up to here
	limit   int
	live    int
	cpu     int
	stop    atomic.Bool
	err     error
}

const unpinned = -1

// NewWorker returns a worker for at most the given number of threads at a time.
func NewWorker(threads int) *Worker {
	threads = max(threads, 1)
	return &Worker{
		ready: newReady(threads), bell: new(Bell), limit: threads, cpu: unpinned,
		chunks: make([][]Thread, (threads+lineThreads-1)/lineThreads),
	}
}

// Pin has Run bind its OS thread to a CPU.
func (w *Worker) Pin(cpu int) { w.cpu = cpu }

// Bell is what wakes the worker when it sleeps.
func (w *Worker) Bell() *Bell { return w.bell }

// Current is the thread that runs, nil outside threads.
func (w *Worker) Current() *Thread { return w.current }

// Create makes a thread that is ready to run.
//
// Preconditions: called before Run, or by one of the worker's threads.
func (w *Worker) Create(run func(*Thread)) (*Thread, error) {
	id := w.created
	switch {
	case len(w.free) > 0:
		id = w.free[len(w.free)-1]
		w.free = w.free[:len(w.free)-1]
	case id == w.limit:
		return nil, fmt.Errorf("%w: %d threads", ErrFull, w.limit)
	default:
		w.created++
	}
	chunk := &w.chunks[id/lineThreads]
	if *chunk == nil {
		*chunk = make([]Thread, lineThreads)
	}
	t := &(*chunk)[id%lineThreads]
	*t = Thread{worker: w, run: run, id: id}
	w.live++
	b := t.Bit()
	b.Set()
	return t, nil
}

// Run runs the threads on the caller's OS thread until all have ended, one has
// panicked, or Stop; those that have not ended by then are unwound. A worker runs
// once.
func (w *Worker) Run() (err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if w.cpu != unpinned {
		unpin, err := pin(w.cpu)
		if err != nil {
			return err
		}
		defer unpin()
	}
	defer func() { // after a thread's runtime.Goexit, too
		w.unwind()
		err = w.err
	}()
	for w.live > 0 && !w.stop.Load() {
		ran := w.pass()
		if came := w.Poll != nil && w.Poll(); !ran && !came {
			w.rest()
		}
	}
	return nil
}

// Stop ends Run as the thread that runs now next waits.
func (w *Worker) Stop() {
	w.stop.Store(true)
	w.bell.Ring()
}

// pass runs each thread that is ready once, and says whether there was one.
func (w *Worker) pass() (ran bool) {
	for id := w.ready.take(); id >= 0; id = w.ready.take() {
		t := w.thread(id)
		if t == nil {
			continue // it ended before a signal for it came
		}
		ran = true
		w.current = t
		t.step()
		w.current = nil
		if t.ended {
			w.end(t)
		}
		if w.stop.Load() {
			break
		}
	}
	return ran
}

// thread returns the thread of a number, nil if none has it.
func (w *Worker) thread(id int) *Thread {
	t := &w.chunks[id/lineThreads][id%lineThreads]
	if t.worker == nil {
		return nil
	}
	return t
}

// end takes a thread away.
func (w *Worker) end(t *Thread) {
	w.free = append(w.free, t.id)
	w.live--
	*t = Thread{}
}

// fail keeps the first reason why the run cannot go on.
func (w *Worker) fail(err error) {
	if w.err == nil {
		w.err = err
	}
	w.stop.Store(true)
}

// unwind ends the threads that are left.
func (w *Worker) unwind() {
	for id := range w.created {
		t := w.thread(id)
		if t == nil {
			continue
		}
		if t.unwind != nil {
			w.current = t
			t.unwind()
			w.current = nil
		}
		w.end(t)
	}
}

const (
	spinTime  = 20 * time.Microsecond // about what a sleep and a wake-up cost
	pollSleep = time.Millisecond
)

// rest waits until a thread may be ready: it spins a while, then sleeps. The bell
// is armed before the last look, so that a signal after the look finds it armed.
func (w *Worker) rest() {
	for start := time.Now(); time.Since(start) < spinTime; {
		if w.awake() {
			return
		}
	}
	w.bell.asleep.Store(1)
	if !w.awake() {
		var limit time.Duration
		if w.Poll != nil {
			limit = pollSleep
		}
		futexWait(&w.bell.asleep, 1, limit)
	}
	w.bell.asleep.Store(0)
}

// awake tells whether there is something to do.
func (w *Worker) awake() bool {
	return w.ready.any() || w.stop.Load() || w.Poll != nil && w.Poll()
}

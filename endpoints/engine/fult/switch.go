// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package fult

import (
	"iter"
	"math/bits"
)

// seat is a coroutine of iter.Pull, seen as what it is: a place that holds one
// goroutine. Its next and its yield, by turns, exchange the caller with the one
// that sits there; who calls is no matter. A thread starts in the seat made for
// it and later sits wherever the thread that it gave way to sat before. There are
// as many seats as started threads, and one goroutine more, the worker's own: all
// but the running one sit.
type seat struct {
	next  func() (struct{}, bool)
	yield func(struct{}) bool
	// What next and yield work on, for prefetch.
	pull, coro uintptr
}

// exchange runs target in place of from, which sits down where target sat. It
// returns as from is brought back: because another thread gave way to it, which
// made it the current one, or because the thread whose seat it was made for ended.
func (w *Worker) exchange(from, target *Thread) {
	from.seat, from.turned = target.seat, !target.turned
	w.current, w.parked = target, from
	if from.turned {
		from.seat.next()
	} else {
		from.seat.yield(struct{}{})
	}
}

// pick takes the next ready thread from the set: the worker's own goroutine, as
// main, if there is none, if its turn has come, or to start the thread.
func (w *Worker) pick() *Thread {
	for w.turns--; w.turns > 0; {
		id := w.ready.take()
		if id < 0 {
			break
		}
		t := w.thread(id)
		if t.seat.next != nil {
			w.fetch(t)
			return t
		}
		if t.worker != nil { // else a signal for a thread that has ended
			w.fresh = t
			break
		}
	}
	return &w.main
}

// fewThreads stay in the cache by themselves.
const fewThreads = 256

// fetch begins to bring into the cache what a switch to t reads, and for the two
// threads that follow it, if the snapshot knows them. Without it each of five
// pointers is a miss that waits for the one before.
func (w *Worker) fetch(t *Thread) {
	if w.created <= fewThreads {
		return
	}
	prefetch(t)
	if left := w.ready.word; left != 0 {
		prefetch(w.thread(w.ready.base + bits.TrailingZeros64(left)))
		if left &= left - 1; left != 0 {
			prefetchLine(w.thread(w.ready.base + bits.TrailingZeros64(left)))
		}
	}
}

// start makes the coroutine of a thread.
//
// Preconditions: called on the worker's own stack, since those of threads are small.
func (w *Worker) start(t *Thread) {
	run := &w.chunks[t.id/lineThreads].run[t.id%lineThreads]
	life := *run
	*run = nil
	t.seat.next, _ = iter.Pull(func(yield func(struct{}) bool) { t.life(life, yield) })
	t.seat.pull, t.seat.coro = captured(t.seat.next)
}

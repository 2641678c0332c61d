// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package fult

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// Thread is a user-level thread of a worker: a coroutine, made as it first runs.
//
// 64 bytes, one cache line, which has all that a switch to it begins with:
// worker 0, seat 8 (next 8, yield 16, pull 24, coro 32), goroutine 40, stack 48,
// id 56, turned 60.
type Thread struct {
	worker *Worker
	seat   seat
	// Where its goroutine and the top of its stack lie, for prefetch.
	goroutine uintptr
	stack     uintptr
	id        int32
	turned    bool // seat.next was called last, so seat.yield brings the thread back
}

// errUnwound travels up the stack of a thread whose worker is done.
var errUnwound = errors.New("the worker of this thread is done")

// ID is the thread's number in its worker; threads that ended leave it to others.
func (t *Thread) ID() int { return int(t.id) }

// Worker is whom the thread belongs to.
func (t *Thread) Worker() *Worker { return t.worker }

// Bit is the thread's place in the ready set, for those who will signal it.
func (t *Thread) Bit() Bit { return t.worker.ready.bit(int(t.id), t.worker.bell) }

// Wait switches to another thread and returns after a signal. It may return for
// a signal of earlier: the caller tests what it waits for.
//
// Preconditions: t is running. If the worker is done meanwhile, Wait does not
// return: the thread's deferred calls run, and it ends.
func (t *Thread) Wait() {
	w := t.worker
	if w.current != t {
		panic(fmt.Sprintf("fult: Wait called for thread %d, which does not run", t.id))
	}
	t.stack = stackTop()
	for w.current = nil; w.current != t; {
		if w.done {
			w.current = t // for its deferred calls
			panic(errUnwound)
		}
		if next := w.pick(); next == t {
			w.current = t
		} else {
			w.exchange(t, next) // comes back without its turn if a thread ended
		}
	}
}

// Yield lets the other threads that are ready run.
//
// Preconditions: as for Wait.
func (t *Thread) Yield() {
	b := t.Bit()
	b.Set()
	t.Wait()
}

// life is the thread's coroutine.
func (t *Thread) life(run func(*Thread), yield func(struct{}) bool) {
	w := t.worker
	w.parked.seat.yield = yield
	t.goroutine = goroutine()
	returned := false
	defer func() {
		switch cause := recover(); {
		case cause == nil && !returned:
			w.goexit = true
			w.fail(fmt.Errorf("fult: thread %d called runtime.Goexit", t.id))
		case cause != nil && cause != any(errUnwound):
			w.fail(&PanicError{Thread: int(t.id), Value: cause, Stack: debug.Stack()})
		}
		w.current = nil // whom the coroutine's end brings back has no turn
		w.end(t)
	}()
	run(t)
	returned = true
}

// PanicError says that a thread panicked, which ended the run of its worker.
type PanicError struct {
	Thread int
	Value  any    // of the panic
	Stack  []byte // of the thread, as it panicked
}

// Error names the thread and the panic's value, on one line.
func (e *PanicError) Error() string {
	return fmt.Sprintf("fult: thread %d panicked: %v", e.Thread, e.Value)
}

// Unwrap returns the panic's value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

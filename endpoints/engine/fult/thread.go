// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package fult

import (
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
)

// Thread is a user-level thread of a worker: a coroutine, made as it first runs.
//
// 64 bytes, one cache line, so that a switch reads one.
type Thread struct {
	worker *Worker
	run    func(*Thread)
	resume func() (struct{}, bool)
	yield  func(struct{}) bool // to the worker; false: unwind
	unwind func()
	id     int
	ended  bool
	_      [15]byte
}

// unwound is what travels up the stack of a thread whose worker is closed.
var unwound = errors.New("the worker of this thread is closed")

// ID is the thread's number in its worker; threads that ended leave it to others.
func (t *Thread) ID() int { return t.id }

// Worker is whom the thread belongs to.
func (t *Thread) Worker() *Worker { return t.worker }

// Bit is the thread's place in the ready set, for those who will signal it.
func (t *Thread) Bit() Bit { return t.worker.ready.bit(t.id, t.worker.bell) }

// Wait switches to the worker and returns after a signal. It may return for a
// signal of earlier: the caller tests what it waits for.
//
// Preconditions: t is running. If the worker is closed meanwhile, Wait does not
// return: the thread's deferred calls run, and it ends.
func (t *Thread) Wait() {
	if t.worker.current != t {
		panic(fmt.Sprintf("fult: Wait called for thread %d, which does not run", t.id))
	}
	if !t.yield(struct{}{}) {
		panic(unwound)
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

// step runs the thread until it waits or ends.
func (t *Thread) step() {
	if t.resume == nil {
		t.resume, t.unwind = iter.Pull(t.life)
	}
	t.resume()
}

// life is the coroutine of the thread.
func (t *Thread) life(yield func(struct{}) bool) {
	t.yield = yield
	t.ended = true // unless it comes back through Wait: runtime.Goexit ends here, too
	returned := false
	defer func() {
		t.ended = true
		switch cause := recover(); {
		case cause == nil && !returned:
			t.worker.fail(fmt.Errorf("fult: thread %d called runtime.Goexit", t.id))
		case cause != nil && cause != any(unwound):
			t.worker.fail(&PanicError{Thread: t.id, Value: cause, Stack: debug.Stack()})
		}
	}()
	t.ended = false
	t.run(t)
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

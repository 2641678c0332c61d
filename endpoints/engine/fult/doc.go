// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package fult runs user-level threads, up to millions of them, whose waking
// costs one or two atomic ORs and whose waiting is one switch.
//
// A worker is an OS thread that runs its threads one after another. A thread is
// a coroutine of its worker: it runs until it waits, yields or ends. A bit stands
// for one thread in its worker's ready set: setting it, which anybody may do from
// any OS thread, is the signal that makes the thread ready to run. The ready set
// has two levels, so that a worker with 10^5 sleeping threads finds the one that
// was woken as fast as a worker with 64: docs/endpoints/ready-set.md.
//
// Signals are not counted: two that come before the thread runs are one, and a
// thread may be woken by a signal that it no longer waits for. What it waits for
// is therefore a flag beside the bit, stored before the signal:
//
//	for !done.Load() { // done.Store(true); bit.Set()
//		thread.Wait()
//	}
//
// Create, Wait, Yield and Current belong to the worker's own OS thread; Bit.Set
// and Stop may be called by all. A thread must not lock or unlock its OS thread
// (runtime.LockOSThread): it is the worker's. A worker keeps a processor of Go's
// (GOMAXPROCS) while it runs and lends it while it sleeps: a program gives Go
// one more than it has workers.
package fult

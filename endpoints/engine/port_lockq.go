// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import "github.com/tpsl/tpsl/endpoints/engine/locks"

// Models LockQ and Offload: a thread that cannot have the inner half leaves its op in
// a queue and goes. Whoever has the inner half next executes what was left. In LockQ
// that is any thread that posts or asks after an op, for MPI has every op asked
// after in the end; in Offload it is a thread that does nothing else.

// leaveWork puts an op into the queue.
func (p *Port) leaveWork(o *op) { p.posted.Put(p.ops.seat(o.index).entry, o) }

// tryOrLeave posts an op in model LockQ, in a bounded number of steps. An op
// must not overtake one that its own thread, or one that this thread has heard from,
// left before. Such an op may still be in the queue: beyond what one owner
// executes, or hidden behind a thread that stands still within Put.
func (p *Port) tryOrLeave(o *op) {
	if !p.lock.Try() {
		p.leaveWork(o)
		return
	}
	p.drain()
	if p.posted.Empty() {
		p.execute(o)
	} else {
		p.leaveWork(o)
	}
	p.lock.Release()
}

// drain executes ops that were left, so many that it ends. It is of the inner half.
func (p *Port) drain() {
	for range locks.MaxCombine {
		o, entry := p.posted.Take()
		if o == nil {
			return
		}
		p.ops.seat(o.index).entry = entry
		p.execute(o)
	}
}

// drainAll executes all ops that were left before it began.
func (p *Port) drainAll() {
	for s := (locks.Spin{}); !p.posted.Empty(); s.Pause() {
		p.drain()
	}
}

// serve is what the thread of a port in model Offload does.
func (p *Port) serve() {
	var w waiter
	for !p.fabric.closed.Load() {
		p.lock.Acquire()
		moved := !p.posted.Empty()
		p.drain()
		moved = p.progress() || moved
		p.lock.Release()
		if p.runCalls() || moved {
			w.reset()
		} else {
			w.pause(p.fabric)
		}
	}
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

// A port has two halves. The inner half is a network interface that knows of no
// threads: execute(op) runs a posted send or receive, in the order of the calls, and
// never waits; progress() looks into the inbox and moves what it can. Neither may run
// while the other, or itself, runs on another thread. In model Concurrent threads post
// receives and send within the process beside them (port_concurrent.go). What handlers do is not of the inner half: who
// has made progress gives it up, then runs those whose messages have come (calls.go).
//
// A model says who runs them when, in the functions of this file and nowhere else:
//
//	post     an op has been posted: run it, or see that somebody will
//	poll     a caller asks whether its op is done: make some progress if possible
//	wait     return when the op is done
//	enter    own the inner half for a call that is neither (probe, cancel);
//	leave    give it back
//
// What post may rely on: the op's word says pending, its fields stand, and nothing
// else points to it. An op is done when its word says so, whoever stored that, or its
// kind (op.end); its owner then gives it back to the pool, which any thread may use in
// all models but Private. Threads that share a port queue by the seat of an op of theirs.

// post runs a posted op or leaves it to whoever owns the inner half.
func (p *Port) post(o *op) {
	switch p.model {
	case Private:
		p.execute(o)
	case Global, PerVNI:
		p.lock.Acquire()
		p.execute(o)
		p.lock.Release()
	case Offload:
		p.leaveWork(o)
	case HMCS:
		s, domain := p.ops.seat(o.index), p.domain()
		p.hmcs.Acquire(&s.node, domain)
		p.execute(o)
		p.hmcs.Release(&s.node, domain)
	case CSync:
		p.combine(o)
	case LockQ:
		p.tryOrLeave(o)
	case Concurrent:
		p.runBeside(o)
	}
}

// poll makes some progress for a caller that asks after o, and tells whether there
// was any. Where threads would wait for the lock only to find their work done, it
// does without progress while another thread sees to it.
func (p *Port) poll(o *op) bool {
	switch p.model {
	case Private:
		moved := p.progress()
		return p.runCalls() || moved
	case Offload:
		return false
	case Global:
		p.lock.Acquire()
		moved := p.progress()
		p.lock.Release()
		return p.runCalls() || moved
	}
	s := p.ops.seat(o.index)
	if !s.backoff.Due() {
		return false
	}
	domain := 0
	if p.model == HMCS {
		domain = p.domain()
	}
	if !p.try(s, domain) {
		if !s.backoff.Failed() {
			return false
		}
		p.own(s, domain)
	}
	s.backoff.Reset()
	moved := p.progress()
	p.disown(s, domain)
	return p.runCalls() || moved
}

// wait returns when o is done. A user-level thread that posted o is signalled, and
// its worker polls meanwhile.
func (p *Port) wait(o *op) {
	var w waiter
	if t := p.thread(); o.signals(t) {
		for !o.ended() && !p.fabric.closed.Load() {
			t.Wait()
		}
	}
	if p.model == HMCS {
		p.waitServed(o)
	}
	for !o.ended() {
		if p.poll(o) {
			w.reset()
			continue
		}
		p.pass(o, &w)
	}
}

// pass is what a thread that waits for o does between two looks.
func (p *Port) pass(o *op, w *waiter) {
	o.help()
	if p.fabric.closed.Load() {
		e := p.enter()
		p.withdraw(Request{o, o.turn}, closed)
		p.abandon(o)
		p.leave(e)
	}
	p.rest(w, o)
	if p.model != Private && w.sleeps(p.fabric) {
		p.ops.seat(o.index).backoff.Hurry()
	}
}

// enter owns the inner half, with all that was posted before executed. It returns
// the op by whose seat the caller did so, for leave.
func (p *Port) enter() *op {
	o := p.ops.get()
	if p.model != Private {
		p.own(p.ops.seat(o.index), 0)
		p.drainAll()
	}
	return o
}

func (p *Port) leave(o *op) {
	if p.model != Private {
		p.disown(p.ops.seat(o.index), 0)
	}
	p.ops.put(o)
}

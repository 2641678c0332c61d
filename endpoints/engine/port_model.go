// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

// A port has two halves. The inner half is a network interface that knows of no
// threads: execute(op) runs a posted send or receive, in the order of the calls, and
// never waits; progress() looks into the inbox and moves what it can. Neither may run
// while the other, or itself, runs on another thread.
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
// else points to it. An op is done when its word says so, whoever stored that; its
// owner then gives it back to the pool, which any thread may use in all models but
// Private.

// post runs a posted op or leaves it to whoever owns the inner half.
func (p *Port) post(o *op) {
	switch p.model {
	case Private:
		p.execute(o)
	case Global:
		p.lock.Lock()
		p.execute(o)
		p.lock.Unlock()
	}
}

// poll makes some progress and tells whether there was any.
func (p *Port) poll() bool {
	switch p.model {
	case Global:
		p.lock.Lock()
		moved := p.progress()
		p.lock.Unlock()
		return moved
	default:
		return p.progress()
	}
}

// wait returns when o is done. A user-level thread that posted o is signalled, and
// its worker polls meanwhile.
func (p *Port) wait(o *op) {
	var w waiter
	for t := p.thread(); t != nil && o.bit == t.Bit() && !o.is(done); {
		t.Wait()
	}
	for !o.is(done) {
		if p.poll() {
			w.reset()
			continue
		}
		o.help()
		if p.fabric.closed.Load() {
			p.enter()
			p.withdraw(o, closed)
			p.abandon(o)
			p.leave()
		}
		p.rest(&w, o)
	}
}

func (p *Port) enter() {
	if p.model == Global {
		p.lock.Lock()
	}
}

func (p *Port) leave() {
	if p.model == Global {
		p.lock.Unlock()
	}
}

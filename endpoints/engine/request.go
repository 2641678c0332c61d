// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import "fmt"

// A Request is the handle on a started operation: pass it by value, and ask for its
// end once, by Test, Wait or a function on many. Every later use is ErrStale; another
// operation never answers. The zero Request stands for none and is done.
type Request struct {
	op   *op
	turn uint64
}

// Test tells whether the operation is done, and if so, how it ended.
func (r Request) Test() (Status, bool, error) { return r.test(true) }

// test is Test, with progress of the port or without.
func (r Request) test(poll bool) (Status, bool, error) {
	if r.op == nil {
		return Status{}, true, nil
	}
	if r.stale() {
		return Status{}, true, ErrStale
	}
	if !r.done() {
		p := r.op.port
		if poll {
			p.poll(r.op)
		}
		r.op.help()
		if p.fabric.closed.Load() {
			p.wait(r.op) // not for long
		}
		if !r.done() {
			return Status{}, false, nil
		}
	}
	s, err := r.finish()
	return s, true, err
}

// Wait returns when the operation is done, with how it ended.
func (r Request) Wait() (Status, error) {
	if r.op == nil {
		return Status{}, nil
	}
	if r.stale() {
		return Status{}, ErrStale
	}
	if !r.done() {
		r.op.port.wait(r.op)
	}
	return r.finish()
}

// Cancel asks that the operation end without a message, if none has matched it yet.
// Wait or Test then tell by ErrCancelled that it did.
func (r Request) Cancel() error {
	if r.op == nil {
		return nil
	}
	if r.stale() {
		return ErrStale
	}
	p := r.op.port
	e := p.enter()
	p.withdraw(r, cancelled)
	p.leave(e)
	return nil
}

// stale tells whether the op is of another turn by now. In model Private the word may lag behind.
func (r Request) stale() bool {
	if r.op.port.model == Private {
		return r.op.turn != r.turn
	}
	return r.op.word.Load()>>stateBits != r.turn
}

// done tells whether a request that is not stale has ended.
func (r Request) done() bool { return r.op.ended() }

// endedWell tells, most often, whether a request has nothing to say but that it has ended without an error.
func (r Request) endedWell() bool {
	o := r.op
	return o != nil && o.port.model == Private && o.kind == opEnded && o.outcome == fine && o.turn == r.turn
}

// finish gives back a done op. A port's threads may do so side by side.
func (r Request) finish() (Status, error) {
	s, err := r.op.result()
	r.op.port.ops.put(r.op)
	return s, err
}

// result returns how a done op has ended.
func (o *op) result() (Status, error) {
	if o.ready {
		o.port.retire(o)
	}
	s := Status{Envelope{Context: o.node().Context, Peer: o.source, Tag: o.tag}, o.bytes}
	if isActive(s.Tag) {
		s.Tag = handlerOf(s.Tag)
	}
	if o.outcome == fine {
		return s, nil
	}
	if o.outcome > truncated {
		s.Bytes = 0
	}
	return s, o.failure()
}

// failure returns the error of an op that has not ended well.
func (o *op) failure() error {
	err := o.outcome.err()
	switch o.outcome {
	case peerGone:
		err = o.port.fabric.options.Carrier.Gone(int(o.source))
	case noRegion:
		err = fmt.Errorf("port %d: a region of port %d: %w", o.port.rank, o.source, err)
	}
	return err
}

// withdraw ends an op that nothing has matched. It is of the inner half.
func (p *Port) withdraw(r Request, how outcome) {
	o := r.op
	if o.ended() || !o.take(r.turn) {
		return
	}
	switch {
	case o.kind == opReceive:
		p.matcher.Cancel(o.index)
		p.unqueue(o)
	case !p.unqueue(o) && p.fabric.options.Unique:
		p.sends.Cancel(o.index)
	}
	o.complete(how)
}

// WaitAll waits for all requests and leaves zero ones in their place. It fills in
// statuses, if that is not nil, and returns the first error in the order given. It
// panics if statuses are fewer than requests.
func WaitAll(requests []Request, statuses []Status) error {
	var first error
	for i, r := range requests {
		if statuses == nil && r.endedWell() {
			r.op.port.ops.put(r.op)
			requests[i] = Request{}
			continue
		}
		s, err := r.Wait()
		requests[i] = Request{}
		if statuses != nil {
			statuses[i] = s
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// WaitAny waits for one of the requests, leaves a zero one in its place and returns
// its index, or -1 if all are zero already. It looks at each request again and again: where
// many are under way, a Queue takes the same time however many there are.
func WaitAny(requests []Request) (int, Status, error) {
	var w waiter
	for {
		last, signalled := -1, true
		var polled *Port // most often all are of one
		for i, r := range requests {
			if r.op == nil {
				continue
			}
			p := r.op.port
			s, done, err := r.test(p != polled)
			polled = p
			if done {
				requests[i] = Request{}
				return i, s, err
			}
			last, signalled = i, signalled && r.op.signals(p.thread())
		}
		if last < 0 {
			return -1, Status{}, nil
		}
		if p := requests[last].op.port; signalled {
			p.thread().Wait()
		} else {
			p.idle(&w)
		}
	}
}

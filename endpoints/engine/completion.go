// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"sync/atomic"
)

// An operation may end into a Completion in place of a Request: then nobody has to wait for that very one. Whatever
// thread completes the op puts it on a list of its port; the port's progress takes it off, and
// hands its end over as it runs handlers, one at a time and outside of the inner half.

// An End is how an operation has ended, with the cookie that was given when it started.
type End struct {
	Cookie uint64
	Status
	Err error
}

// A Completion is where ends go: a Queue, a Counter or an EndHandler.
type Completion interface {
	// reserve makes sure that there is room for one more end, or says why not.
	reserve() error
	// release takes reserve back.
	release()
	// end takes an end, for which there is room.
	end(p *Port, e End)
}

// An EndHandler is run with each end, on the operation's port, as handlers of active messages are.
type EndHandler func(p *Port, e End)

func (EndHandler) reserve() error       { return nil }
func (EndHandler) release()             {}
func (h EndHandler) end(p *Port, e End) { h(p, e) }

// A Counter counts operations that have ended. The zero Counter is ready for use; any number of
// ports and threads may use it.
type Counter struct {
	ended atomic.Uint64
	first atomic.Pointer[error]
}

func (*Counter) reserve() error { return nil }
func (*Counter) release()       {}

func (c *Counter) end(_ *Port, e End) {
	if e.Err != nil {
		c.first.CompareAndSwap(nil, &e.Err)
	}
	c.ended.Add(1)
}

// Count returns how many operations have ended, well or not.
func (c *Counter) Count() uint64 { return c.ended.Load() }

// Err returns the error of the first that ended with one.
func (c *Counter) Err() error {
	if first := c.first.Load(); first != nil {
		return *first
	}
	return nil
}

// Wait makes progress on a port until so many operations have ended, or the fabric is closed. It returns Err.
func (c *Counter) Wait(p *Port, count uint64) error {
	if err := p.Await(func() bool { return c.ended.Load() >= count }); err != nil {
		return err
	}
	return c.Err()
}

// ErrFull is what an operation is refused with whose queue has no place for its end.
var ErrFull = errors.New("the completion queue is full: take ends from it first")

// A Queue keeps ends until they are taken. It has a place for each operation that is under way, from its
// start on: so one with n places stands for at most n operations, and a start that finds no
// place is refused by ErrFull. Any number of ports and threads may use it.
type Queue struct {
	ends chan End
	free atomic.Int64
}

// NewQueue makes a queue with so many places, at least one.
func NewQueue(places int) *Queue {
	q := &Queue{ends: make(chan End, max(places, 1))}
	q.free.Store(int64(cap(q.ends)))
	return q
}

func (q *Queue) reserve() error {
	if q.free.Add(-1) < 0 {
		q.free.Add(1)
		return ErrFull
	}
	return nil
}

func (q *Queue) release()           { q.free.Add(1) }
func (q *Queue) end(_ *Port, e End) { q.ends <- e }

// Take takes the end that came first, if there is one.
func (q *Queue) Take() (e End, found bool) {
	select {
	case e = <-q.ends:
		q.release()
		return e, true
	default:
		return e, false
	}
}

// Wait makes progress on a port until it has taken an end, or the fabric is closed, which is the error.
func (q *Queue) Wait(p *Port) (e End, err error) {
	err = p.Await(func() (found bool) {
		e, found = q.Take()
		return found
	})
	return e, err
}

// notice says where the end of an op goes; to is nil: to its Request.
type notice struct {
	to     Completion
	cookie uint64
}

// Into has the operations that the Starter starts end into a Completion, with this cookie.
func (p *Port) Into(c Completion, cookie uint64) Starter { return Starter{p, notice{c, cookie}} }

// A Starter starts operations of a port as the port does, but there are no requests. An error says that an operation
// was not started; then it has no end.
type Starter struct {
	port   *Port
	notice notice
}

// Send is Port.Isend.
func (s Starter) Send(buf []byte, e Envelope) error {
	if err := s.port.check(e, false); err != nil {
		return err
	}
	return s.start(opSend, buf, e)
}

// Recv is Port.Irecv.
func (s Starter) Recv(buf []byte, e Envelope) error {
	if err := s.port.check(e, true); err != nil {
		return err
	}
	return s.start(opReceive, buf, e)
}

// Invoke is Port.Invoke.
func (s Starter) Invoke(data []byte, e Envelope) error {
	if err := s.port.checkInvoke(data, e); err != nil {
		return err
	}
	e.Tag = tagOf(e.Tag)
	return s.start(opSend, data, e)
}

// Put is Port.Put.
func (s Starter) Put(to Key, offset int, data []byte) error {
	return s.access(access{kind: accessPut, key: to, offset: offset, buf: data})
}

// PutSignal is Port.PutSignal.
func (s Starter) PutSignal(to Key, offset int, data []byte, handler int32, context uint32) error {
	return s.access(putSignal(to, offset, data, handler, context))
}

// Get is Port.Get.
func (s Starter) Get(from Key, offset int, buf []byte) error {
	return s.access(access{kind: accessGet, key: from, offset: offset, buf: buf})
}

// FetchAdd is Port.FetchAdd.
func (s Starter) FetchAdd(at Key, offset int, add uint64, before *uint64) error {
	return s.access(fetchAdd(at, offset, add, before))
}

// CompareSwap is Port.CompareSwap.
func (s Starter) CompareSwap(at Key, offset int, old, replacement uint64, before *uint64) error {
	return s.access(compareSwap(at, offset, old, replacement, before))
}

func (s Starter) start(k kind, buf []byte, e Envelope) error {
	if err := s.notice.to.reserve(); err != nil {
		return err
	}
	o := s.port.prepare(k, buf, &e)
	o.goesInto(s.notice)
	s.port.launch(o, &e)
	return nil
}

func (s Starter) access(a access) error {
	if err := s.notice.to.reserve(); err != nil {
		return err
	}
	a.notice = s.notice
	_, err := s.port.access(a)
	if err != nil {
		s.notice.to.release()
	}
	return err
}

// goesInto says where the end of an op goes.
func (o *op) goesInto(n notice) {
	if n.to != nil {
		o.notify, o.completion, o.node().Value = true, n.to, n.cookie
		o.below.Store(2) // who starts it, and who hands its end over
	}
}

// endAtOnce has an operation that is done end into its completion, if it has one: in the port's progress, as
// all others.
func (p *Port) endAtOnce(n notice, peer int32, bytes int) {
	if n.to == nil {
		return
	}
	o := p.prepare(opSend, nil, &Envelope{Peer: peer})
	o.node().Envelope = Envelope{Peer: peer}
	o.bytes = bytes
	o.goesInto(n)
	o.complete(fine)
	p.letGo(o)
}

// An opStack is a list of ops that any thread puts on, and one takes off.
type opStack struct{ top atomic.Pointer[op] }

func (s *opStack) push(o *op) {
	for {
		o.next = s.top.Load()
		if s.top.CompareAndSwap(o.next, o) {
			return
		}
	}
}

// takeEnds takes the ops that have ended since into the list of what handlers are to run for, in the
// order in which they ended. It is of the inner half.
func (p *Port) takeEnds() {
	var first *op
	for o := p.ends.top.Swap(nil); o != nil; {
		next := o.next
		o.next, first = first, o
		o = next
	}
	for o := first; o != nil; {
		next := o.next
		p.addCall(o)
		o = next
	}
}

// letGo gives an op with a completion back if the other of the two has let it go, too: the op can have ended
// before the thread that posts it is done with its seat.
func (p *Port) letGo(o *op) {
	if o.below.Add(^uint32(0)) == 0 {
		p.ops.put(o)
	}
}

// handOver gives the end of an op to its completion.
func (p *Port) handOver(o *op) {
	to, cookie := o.completion, o.node().Value
	s, err := o.result()
	p.letGo(o)
	to.end(p, End{cookie, s, err})
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/tpsl/tpsl/endpoints/engine/fult"
	"github.com/tpsl/tpsl/endpoints/engine/locks"
	"github.com/tpsl/tpsl/endpoints/engine/match"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

// A Port sends and receives. Its inner half, all but the pool, belongs to one thread
// at a time; the model says to which.
type Port struct {
	fabric  *Fabric
	rank    int32
	model   Model
	inbox   *ring.Ring
	sentTo  *ring.Ring   // where the last short message went, until this port waits
	worker  *fult.Worker // whose threads wait by switching; nil: OS threads wait
	far     *far         // the way to other processes; nil: there are none
	matcher match.Matcher
	sends   match.Matcher // large sends that wait for a ready receive, if envelopes are unique
	readies readies
	stats   struct{ asks, readies atomic.Uint64 }
	arrival *op       // stands for the next message that comes
	arrived uint64    // messages that came
	piece   ring.Cell // a message of a run that arrives by itself; a run to another process
	calls   calls
	regions regions
	ends    opStack // ops that have ended into completions
	lanes   *lane   // sends that wait for room in their destination's inbox
	spare   *lane
	ops     pool

	// Of the models in which threads share the port.
	lock   locks.Flag      // Global, PerVNI, LockQ, Offload, Concurrent
	posted locks.Queue[op] // LockQ, Offload: ops that nobody has executed yet
	csync  locks.CSync[op] // CSync
	hmcs   *locks.HMCS     // HMCS
	served bool            // HMCS: some thread polls for those that wait
	first  *seat           // HMCS: those that wait, longest first
	last   *seat
	beside bool        // Concurrent: threads match beside the owner of the inner half
	lost   atomic.Bool // Concurrent: some process is gone
	full   atomic.Bool // Concurrent: there are lanes
}

func newPort(f *Fabric, rank int, inbox *ring.Ring) *Port {
	p := &Port{fabric: f, rank: int32(rank), model: f.options.Model, inbox: inbox}
	p.ops.port, p.ops.shared = p, p.model != Private
	p.beside = p.model == Concurrent && f.options.Matcher == match.HashTable && !f.options.Unique
	if p.beside {
		p.matcher = match.NewShared(&p.ops.nodes, firstPending)
	} else {
		p.matcher = match.New(f.options.Matcher, &p.ops.nodes, firstPending)
	}
	if f.options.Unique {
		p.sends = match.New(f.options.Matcher, &p.ops.nodes, firstPending)
	}
	p.renewArrival()
	if p.ops.shared {
		p.posted.Init(new(locks.Entry[op]))
		p.hmcs = locks.NewHMCS(domains())
	}
	if c := f.options.Carrier; c != nil {
		p.far = &far{port: c.Port(rank)}
	}
	return p
}

// firstPending is how many operations the matching table has room for at first.
const firstPending = 16

// Rank returns the port's number.
func (p *Port) Rank() int { return int(p.rank) }

// Stats count the cells that a port has sent beside those with messages.
type Stats struct {
	Asks    uint64 // of large sends
	Readies uint64 // of receives for large messages, if envelopes are unique
}

// Stats returns what the port has counted so far.
func (p *Port) Stats() Stats {
	return Stats{Asks: p.stats.asks.Load(), Readies: p.stats.readies.Load()}
}

// Send sends buf and returns when buf may be used again.
func (p *Port) Send(buf []byte, e Envelope) error {
	if err := p.check(e, false); err != nil {
		return err
	}
	if p.isShort(buf) && p.sendShort(buf, &e) {
		return nil
	}
	_, err := p.launch(p.prepare(opSend, buf, &e), &e).Wait()
	return err
}

// Recv receives into buf the first message that e names. A longer one ends with its
// first bytes in buf and ErrTruncated.
func (p *Port) Recv(buf []byte, e Envelope) (Status, error) {
	if err := p.check(e, true); err != nil {
		return Status{}, err
	}
	if c := p.awaitFront(&e); c != nil {
		return p.takeFront(c, buf)
	}
	return p.launch(p.prepare(opReceive, buf, &e), &e).Wait()
}

// Isend starts to send buf, which must not change until the request is done.
func (p *Port) Isend(buf []byte, e Envelope) (Request, error) {
	if err := p.check(e, false); err != nil {
		return Request{}, err
	}
	return p.launch(p.prepare(opSend, buf, &e), &e), nil
}

// Irecv starts to receive into buf.
func (p *Port) Irecv(buf []byte, e Envelope) (Request, error) {
	if err := p.check(e, true); err != nil {
		return Request{}, err
	}
	return p.launch(p.prepare(opReceive, buf, &e), &e), nil
}

// prepare takes an op for a send or receive.
func (p *Port) prepare(k kind, buf []byte, e *Envelope) *op {
	o := p.ops.fetch()
	o.kind, o.buf = k, buf
	o.source, o.tag, o.bytes = e.Peer, e.Tag, len(buf)
	return o
}

// launch posts an op.
func (p *Port) launch(o *op, e *Envelope) Request {
	r, into := Request{o, o.turn}, o.notify
	if o.kind == opSend && p.isShort(o.buf) && p.sendShort(o.buf, e) {
		o.node().Context = e.Context
		o.end(fine)
	} else {
		o.begin()
		o.node().Envelope = *e
		if t := p.thread(); into { // nobody waits for this one
		} else if t != nil {
			o.bit = t.Bit()
		} else if p.model == HMCS {
			o.bit = p.ops.seat(o.index).sleeper.Bit()
		}
		p.post(o)
	}
	if into {
		p.letGo(o)
	}
	return r
}

// check tells what is wrong with an envelope.
func (p *Port) check(e Envelope, wildcards bool) error {
	if p.fabric.closed.Load() {
		return ErrClosed
	}
	size := len(p.fabric.peers)
	if uint(e.Peer) < uint(size) && e.Tag >= 0 {
		return nil
	}
	if !wildcards || e.Peer < AnySource || int(e.Peer) >= size || e.Tag < AnyTag {
		return fmt.Errorf("port %d: peer %d, tag %d: the fabric has ports 0 to %d, and tags start at 0", p.rank, e.Peer, e.Tag, size-1)
	}
	if p.fabric.options.Unique {
		return errUnique
	}
	return nil
}

var errUnique = errors.New("a fabric of unique envelopes has neither wildcards nor probes: leave out Options.Unique")

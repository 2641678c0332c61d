// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package signal

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

// Options say how a process takes part. Zero stands for the default.
type Options struct {
	Dimensions int // of the torus: 3
	Buffers    int // for each channel and class: 2

	// Message gets each message to this process. It must not wait, and so it must not Send: an answer is
	// sent by another goroutine. The payload is its own.
	Message func(m Message)
	// Gone is told once of each process that no way leads to any more, with an ErrPeerGone that names
	// the links that are down. It must not wait.
	Gone func(rank int, err error)

	// Polled is for hosts with more processes than processors: the network has no goroutine, and moves on in
	// Send, Poll and Close only. So a message that is to pass through this process waits for the next of these.
	Polled bool
}

func (o *Options) check() error {
	if o.Dimensions == 0 {
		o.Dimensions = MaxDimensions
	}
	if o.Buffers == 0 {
		o.Buffers = 2
	}
	if o.Message == nil {
		o.Message = func(Message) {}
	}
	if o.Gone == nil {
		o.Gone = func(int, error) {}
	}
	if o.Buffers < 0 {
		return fmt.Errorf("%d buffers for each channel and class: take 1 at least", o.Buffers)
	}
	return nil
}

// queued is how many messages of its own a process may have that have not set out; Send waits for room.
const queued = 16

// A Network is one process's part of the network.
type Network struct {
	port     carrier.Port
	router   *router
	polled   bool
	own      chan *waiting
	reached  atomic.Pointer[reach] // for Send, which may be any goroutine's
	closing  atomic.Bool
	closed   chan struct{}
	ended    sync.WaitGroup // the goroutine
	handles  uint64
	arriving map[uint64]arrival // by handle: bytes that are to come
	leaving  map[uint64][]byte  // by handle: bytes that the carrier still reads
	isFull   bool               // the carrier had no room
}

// An arrival is a frame whose bytes are to come.
type arrival struct {
	link  int
	place *waiting // nil: it is no message
	frame frame
}

// reach is what is known of ways at a moment; it does not change.
type reach struct {
	routes routes
	gone   map[int]error
}

// Join makes this process part of the network. The carrier has one rank for each process, in the order of the torus, and
// reaches at least the neighbours; a carrier that reaches them only saves connections. The network alone uses the carrier
// from now on. The caller closes it after the network.
func Join(c carrier.Carrier, o Options) (*Network, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("join the signalization network: %w", err)
	}
	t, err := NewTorus(c.Size(), o.Dimensions)
	if err != nil {
		return nil, fmt.Errorf("join the signalization network: %w", err)
	}
	self, count := c.Ranks()
	if count != 1 {
		return nil, fmt.Errorf("join the signalization network: this process has %d ranks of its carrier: take 1", count)
	}
	n := &Network{
		port: c.Port(self), router: newRouter(t, self, o.Buffers), polled: o.Polled,
		own: make(chan *waiting, queued), closed: make(chan struct{}),
		arriving: map[uint64]arrival{}, leaving: map[uint64][]byte{},
	}
	for _, to := range t.Neighbours(self) {
		if !c.Reaches(to) {
			return nil, fmt.Errorf("join the signalization network: the carrier does not reach rank %d, a neighbour of rank %d", to, self)
		}
	}
	n.router.deliver = o.Message
	n.reached.Store(&reach{routes: n.router.routes})
	n.router.gone = func(rank int, err error) {
		next := &reach{routes: n.router.routes, gone: map[int]error{rank: err}}
		for other, err := range n.reached.Load().gone {
			next.gone[other] = err
		}
		n.reached.Store(next)
		o.Gone(rank, err)
	}
	if !o.Polled {
		n.ended.Go(n.run)
	}
	return n, nil
}

// Send sends to a process, or to this one. It returns when the network has taken the message, which may be before it arrives, and
// waits while the network has no room. The error is an ErrPeerGone if no way leads there.
func (n *Network) Send(to int, kind uint32, payload []byte) error {
	r := n.reached.Load()
	switch {
	case uint(to) >= uint(len(r.routes)):
		return fmt.Errorf("send a signal to rank %d of %d", to, len(r.routes))
	case len(payload) > MaxPayload:
		return fmt.Errorf("send a signal of %d bytes: take %d at most", len(payload), MaxPayload)
	case n.closing.Load():
		return os.ErrClosed
	case r.gone[to] != nil:
		return r.gone[to]
	}
	w := &waiting{body: newBody(to, n.router.self, kind, payload), came: start, ready: true}
	for n.polled {
		select {
		case n.own <- w:
			n.Poll()
			return nil
		default:
			n.Poll()
		}
	}
	select {
	case n.own <- w:
		n.port.Bell().Ring()
		return nil
	case <-n.closed:
		return os.ErrClosed
	}
}

// Poll takes what has come and moves on what can move. It tells whether anything has happened. Only a Polled network is
// polled by its user.
func (n *Network) Poll() (happened bool) {
	var e carrier.Event
	for n.port.Poll(&e) {
		happened = true
		n.take(&e)
		n.advance()
	}
	return n.advance() || happened
}

// advance moves the process's own messages and all others on.
func (n *Network) advance() (moved bool) {
	for {
		if n.router.own == nil {
			select {
			case n.router.own = <-n.own:
			default:
			}
		}
		if !n.router.advance(n.send) {
			return moved
		}
		moved = true
	}
}

// send puts a frame on a channel, if the carrier has room.
func (n *Network) send(index int, f frame) bool {
	to := n.router.channels[index].to
	if n.router.links[index].down {
		return false
	}
	n.handles++
	outcome, err := n.port.Send(to, f.kind, f.class, f.body, n.handles)
	switch {
	case err != nil:
		return false // Poll says that it is gone
	case outcome == carrier.Full:
		n.isFull = true
		return false
	case outcome == carrier.Pending:
		n.leaving[n.handles] = f.body
	}
	return true
}

// take acts on what the carrier has found.
func (n *Network) take(e *carrier.Event) {
	switch e.Kind {
	case carrier.Arrived:
		n.arrived(&e.Cell)
	case carrier.Sent:
		delete(n.leaving, e.Handle)
	case carrier.Received:
		a := n.arriving[e.Handle]
		delete(n.arriving, e.Handle)
		n.whole(a, e.Lost)
	case carrier.Gone:
		for rank := e.First; rank < e.First+e.Ranks; rank++ {
			n.lose(rank)
		}
	}
}

// lose gives up the link to a neighbour, if it is one.
func (n *Network) lose(rank int) {
	if n.router.linkTo(rank) >= 0 {
		n.router.lose(edgeOf(n.router.self, rank))
	}
}

// arrived takes a frame. A neighbour that sends what makes no sense is given up.
func (n *Network) arrived(c *ring.Cell) {
	a := arrival{link: n.router.linkTo(int(c.Source)), frame: frame{kind: c.Context, class: c.Tag}}
	size := carrier.Bytes(c)
	if a.link < 0 || n.router.links[a.link].down || size > maxBody || a.frame.class < 0 || a.frame.class > maxClass {
		n.lose(int(c.Source))
		_, _ = n.port.Fetch(c, nil, 0) // the carrier's buffer
		return
	}
	a.frame.body = make([]byte, size)
	if a.frame.kind == frameMessage {
		var err error
		if a.place, err = n.router.expect(a.link, a.frame.class); err != nil {
			n.lose(int(c.Source))
			_, _ = n.port.Fetch(c, nil, 0)
			return
		}
	}
	n.handles++
	done, err := n.port.Fetch(c, a.frame.body, n.handles)
	if !done {
		n.arriving[n.handles] = a
		return
	}
	n.whole(a, err != nil)
}

// whole acts on a frame that is there, or is lost.
func (n *Network) whole(a arrival, lost bool) {
	if !lost && a.frame.check(n.router.torus.Size()) != nil {
		n.lose(n.router.channels[a.link].to)
		lost = true
	}
	switch {
	case a.place != nil:
		a.place.body, a.place.ready, a.place.lost = a.frame.body, true, lost
	case !lost && n.router.hear(a.link, &a.frame) != nil:
		n.lose(n.router.channels[a.link].to)
	}
}

// A carrier does not say when it has room again, so that is tried.
const tryAgain = time.Millisecond

// run is the network's goroutine: it sleeps until something comes.
func (n *Network) run() {
	for !n.closing.Load() {
		if n.isFull = false; n.Poll() {
			continue
		}
		since := n.port.Doze()
		if n.Poll() || n.closing.Load() {
			n.port.Rouse()
			continue
		}
		limit := time.Duration(0)
		if n.isFull {
			limit = tryAgain
		}
		n.port.Sleep(since, limit)
	}
}

// linger is how long Close waits for what this process holds to go on.
const linger = time.Second

// Close leaves: to the others this process is gone, once the carrier is closed. What is here is moved on
// before, but for what does not move for a second. The error then says so, if that is a message: a neighbour that has left
// needs no credits. As with MPI_Finalize, nobody should need this process any more.
//
// Preconditions: nobody sends, now or later.
func (n *Network) Close() error {
	if n.closing.Swap(true) {
		return os.ErrClosed
	}
	close(n.closed)
	n.port.Bell().Alarm()
	n.ended.Wait()
	for last := time.Now(); ; {
		if n.Poll() {
			last = time.Now()
		}
		messages, words := n.router.holds()
		messages = messages || len(n.arriving)+len(n.leaving)+len(n.own) > 0
		isOver := time.Since(last) > linger
		if !messages && (!words || isOver) {
			return nil
		}
		if isOver {
			return errors.New("leave the signalization network: messages that wait here did not go on for a second")
		}
		time.Sleep(tryAgain)
	}
}

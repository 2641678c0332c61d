// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/frame"
	"github.com/tpsl/tpsl/endpoints/engine/greet"
)

// A Secret is what the processes of a job know, and nobody else.
type Secret = greet.Secret

// A Peer is a process: its ranks, and where it listens. Without an address something else carries
// what goes to it.
type Peer struct {
	First, Ports int
	Address      string   // host:port
	Rails        []string // further addresses, of other networks: all processes have as many, in the same order
}

// Options say who joins. Zero stands for the default.
type Options struct {
	Peers   []Peer // all processes, this one included
	Process int    // which of them this one is
	Secret  Secret

	Eager    int           // bytes of a message that is sent without being asked for: 16 KiB; at most 64
	Window   int           // bytes of messages that a port takes from a process before it wants them: 1 MiB
	Patience time.Duration // how long a peer may be out of reach: 30 s

	// A connection is made when there is something to send, and closed again when it has carried nothing for Idle: 30 s.
	Idle    time.Duration
	AtStart bool // or all are made by Join, and kept

	// Rails listen at the further addresses of this process. The node closes them.
	Rails []*net.TCPListener

	// Near is how many ranks share this host's processors; 0: those of this process.
	Near int
	// Bells are those of this process's ports, if others ring them too.
	Bells []*carrier.Bell
	// Lasting has Close leave the node's own descriptors open until the process ends. So Close may be called while threads are in calls.
	Lasting bool
}

func (o *Options) check() error {
	if uint(o.Process) >= uint(len(o.Peers)) {
		return fmt.Errorf("process %d of %d", o.Process, len(o.Peers))
	}
	if o.Eager == 0 {
		o.Eager = 16 << 10
	}
	if o.Window == 0 {
		o.Window = 1 << 20
	}
	if o.Patience == 0 {
		o.Patience = 30 * time.Second
	}
	if o.Idle == 0 {
		o.Idle = 30 * time.Second
	}
	own := o.Peers[o.Process].Ports
	switch {
	case o.Eager < 0 || o.Eager > frame.MaxEager:
		return fmt.Errorf("messages of %d bytes sent unasked: take 0 to %d", o.Eager, frame.MaxEager)
	case o.Window < 4*int(frame.Cost(o.Eager)):
		return fmt.Errorf("a window of %d bytes for messages of up to %d: take %d at least", o.Window, o.Eager, 4*frame.Cost(o.Eager))
	case o.Idle < time.Millisecond:
		return fmt.Errorf("connections that close when idle for %v: take 1ms at least", o.Idle)
	case o.Bells != nil && len(o.Bells) != own:
		return fmt.Errorf("%d bells for %d ports", len(o.Bells), own)
	}
	if o.Near == 0 {
		o.Near = own
	}
	return o.checkRails()
}

// A Node is this process's part of processes that have joined.
type Node struct {
	options   Options
	listeners []*net.TCPListener // by pair of addresses
	places    []int32            // by rank: the process; none: something else carries what goes there, or it is here
	links     []*link            // by process; nil: none
	ports     []*Port
	buffers   carrier.Buffers
	epoll     int           // the sockets of all links
	watch     carrier.Watch // on the sockets

	open   context.Context // ends when the node closes
	close  context.CancelFunc
	busy   sync.WaitGroup // goroutines
	came   chan struct{}  // a connection was made, or will not be
	closed atomic.Bool
}

const none = -1

// Listen listens at an address of this host, for Join. The port may be 0.
func Listen(address string) (*net.TCPListener, error) {
	l, err := greet.Listen(address)
	if err != nil {
		return nil, fmt.Errorf("listen for peers: %w", err)
	}
	return l, nil
}

// Join makes this process part of a node of all peers that have an address, each of which listens
// already: where nobody listens, the process has ended. With AtStart it meets them; without a
// deadline in ctx they have the patience of the options to come. The listener is the node's from now on.
func Join(ctx context.Context, listener *net.TCPListener, o Options) (*Node, error) {
	n := &Node{listeners: append([]*net.TCPListener{listener}, o.Rails...), came: make(chan struct{}, 1)}
	if err := n.begin(o); err != nil {
		n.closeListeners()
		return nil, fmt.Errorf("join a node: %w", err)
	}
	n.open, n.close = context.WithCancel(context.Background())
	places := make(chan struct{}, greet.MaxStrangers)
	for _, l := range n.listeners {
		n.busy.Go(func() { greet.Serve(n.open, l, places, &n.busy, n.answer) })
	}
	n.busy.Go(n.sweep)
	if !o.AtStart {
		return n, nil
	}
	if err := n.meetAll(ctx); err != nil {
		n.quit()
		n.free()
		return nil, fmt.Errorf("join a node: %w", err)
	}
	return n, nil
}

// begin is what may fail before the first connection.
func (n *Node) begin(o Options) error {
	if err := o.check(); err != nil {
		return err
	}
	n.options = o
	if err := n.place(); err != nil {
		return err
	}
	var err error
	if n.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return err
	}
	if err := n.watch.Start(n.epoll, nil, func() { n.progress(true) }); err != nil {
		_ = unix.Close(n.epoll)
		return err
	}
	return nil
}

func (n *Node) closeListeners() {
	for _, l := range n.listeners {
		l.Close()
	}
}

// meetAll makes all connections.
func (n *Node) meetAll(ctx context.Context) error {
	for _, l := range n.links {
		if l == nil {
			continue
		}
		if l.dials() {
			n.mend(l)
		}
		l.out.Lock()
		l.drive()
		l.out.Unlock()
	}
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, n.options.Patience)
		defer cancel()
	}
	for {
		missing, err := n.missing()
		switch {
		case err != nil || missing == nil:
			return err
		case ctx.Err() != nil:
			return fmt.Errorf("rank %d did not come in time: its process listens at %s", missing.first, strings.Join(missing.addresses, " and "))
		}
		select {
		case <-n.came:
		case <-ctx.Done():
		}
	}
}

// place notes where ranks are, and makes links and ports.
func (n *Node) place() error {
	o := &n.options
	var spans []carrier.Span
	for _, p := range o.Peers {
		spans = append(spans, carrier.Span{First: p.First, Ports: p.Ports})
	}
	var err error
	if n.places, err = carrier.Places(spans); err != nil {
		return err
	}
	n.links = make([]*link, len(o.Peers))
	for i, p := range o.Peers {
		if i != o.Process && p.Address != "" {
			n.links[i] = newLink(n, i)
			continue
		}
		for rank := p.First; rank < p.First+p.Ports; rank++ {
			n.places[rank] = none
		}
	}
	for i := range o.Peers[o.Process].Ports {
		bell := new(carrier.Bell)
		if o.Bells != nil {
			bell = o.Bells[i]
		}
		n.ports = append(n.ports, newPort(n, n.first()+i, bell))
	}
	return nil
}

// missing returns a link that has no connection yet, if there is one. The error is about a peer
// that will not come.
func (n *Node) missing() (*link, error) {
	for _, l := range n.links {
		if l == nil {
			continue
		}
		if l.fate.Load() != fine {
			return nil, l.goneError(l.first)
		}
		l.out.Lock()
		met := l.connections > 0
		l.out.Unlock()
		if !met {
			return l, nil
		}
	}
	return nil, nil
}

func (n *Node) first() int { return n.options.Peers[n.options.Process].First }

// Size returns how many ranks all processes have together.
func (n *Node) Size() int { return len(n.places) }

// Ranks returns the ranks of this process: the first, and how many.
func (n *Node) Ranks() (first, count int) { return n.first(), len(n.ports) }

// Near returns how many ranks share this host's processors.
func (n *Node) Near() int { return n.options.Near }

// Reaches tells whether the node carries messages to a rank.
func (n *Node) Reaches(rank int) bool { return n.places[rank] != none }

// linkOf returns the link to a rank that the node reaches.
func (n *Node) linkOf(rank int) *link { return n.links[n.places[rank]] }

// Port returns the port of a rank of this process, nil for any other.
func (n *Node) Port(rank int) carrier.Port {
	if p := n.port(rank); p != nil {
		return p
	}
	return nil
}

func (n *Node) port(rank int) *Port {
	if k := rank - n.first(); uint(k) < uint(len(n.ports)) {
		return n.ports[k]
	}
	return nil
}

// Gone returns nil, or for a rank whose process is gone a GoneError.
func (n *Node) Gone(rank int) error {
	if l := n.linkOf(rank); l.fate.Load() != fine {
		return l.goneError(rank)
	}
	return nil
}

// progress moves connections on that have something. Whoever cannot wait leaves those alone
// that another thread moves on already.
func (n *Node) progress(wait bool) { n.progressUntil(wait, 0) }

// progressUntil waits for something for so many milliseconds. It tells whether there may be more than it has looked at.
func (n *Node) progressUntil(wait bool, milliseconds int) (more bool) {
	var events [16]unix.EpollEvent
	count, err := unix.EpollWait(n.epoll, events[:], milliseconds)
	if err != nil {
		return false // interrupted
	}
	for _, e := range events[:count] {
		l := n.links[e.Fd]
		if e.Pad != ofStream {
			l.progressRail(e.Pad, e.Events, wait)
			continue
		}
		if e.Events&^unix.EPOLLOUT != 0 && hold(&l.in.Mutex, wait) {
			l.read()
			l.in.Unlock()
		}
		if e.Events&unix.EPOLLOUT != 0 && hold(&l.out.Mutex, wait) {
			l.flush()
			l.out.Unlock()
		}
	}
	return count == len(events)
}

// hold locks, unless it would have to wait and must not, and tells whether it has.
func hold(lock *sync.Mutex, wait bool) bool {
	if wait {
		lock.Lock()
		return true
	}
	return lock.TryLock()
}

// Close leaves: to its peers this process is gone. What was sent is still delivered: Close waits until each
// peer has said so, and has patience with it. The kernel alone would not deliver it: when a peer writes to a
// process that has closed its socket, that process's kernel drops what it had yet to send.
//
// Preconditions: nobody uses a port, now or later, unless the options are Lasting.
func (n *Node) Close() error {
	if n.closed.Swap(true) {
		return os.ErrClosed
	}
	for _, l := range n.links {
		if l != nil {
			l.leave()
		}
	}
	n.watch.Want() // connections may break yet
	begin := time.Now()
	for time.Since(begin) < n.options.Patience {
		if !slices.ContainsFunc(n.links, func(l *link) bool { return l != nil && !l.isOver() }) {
			break
		}
		n.progressUntil(true, 10)
	}
	n.watch.Unwant()
	n.quit()
	if !n.options.Lasting {
		n.free()
	}
	return nil
}

// quit ends all that runs, and closes all connections.
func (n *Node) quit() {
	n.closed.Store(true)
	n.watch.Stop() // now nobody else has connections mended
	n.close()
	n.closeListeners()
	for _, l := range n.links {
		if l != nil {
			l.waitForHolder() // it may have been about to add to busy; later holders see that the node is closing
		}
	}
	n.busy.Wait()
	for _, l := range n.links {
		if l != nil {
			l.lose(left)
		}
	}
}

// free closes the descriptors that ports use.
func (n *Node) free() {
	n.watch.Close()
	_ = unix.Close(n.epoll)
}

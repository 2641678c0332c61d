// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package verbs

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/greet"
	"github.com/tpsl/tpsl/ib"
	"github.com/tpsl/tpsl/ib/regcache"
	"github.com/tpsl/tpsl/ib/verbs"
	"github.com/tpsl/tpsl/ib/verbs/queue"
)

// A Peer is a process: its ranks, and where it listens. Without an address something else carries
// what goes to it.
type Peer struct {
	First, Ports int
	Address      string // host:port, of TCP
}

// Options say who joins. Zero stands for the default.
type Options struct {
	Peers   []Peer // all processes, this one included
	Process int    // which of them this one is
	Secret  greet.Secret

	Eager    int           // bytes of a message that is sent without being asked for: 8 KiB; at most 64
	Window   int           // bytes of messages that a port takes from a process before it wants them: 1 MiB
	Patience time.Duration // how long a peer may be out of reach: 30 s

	// Near is how many ranks share this host's processors; 0: those of this process.
	Near int
	// Bells are those of this process's ports, if others ring them too.
	Bells []*carrier.Bell
}

func (o *Options) check() error {
	if uint(o.Process) >= uint(len(o.Peers)) {
		return fmt.Errorf("process %d of %d", o.Process, len(o.Peers))
	}
	if o.Eager == 0 {
		o.Eager = 8 << 10
	}
	if o.Window == 0 {
		o.Window = 1 << 20
	}
	if o.Patience == 0 {
		o.Patience = 30 * time.Second
	}
	own := o.Peers[o.Process].Ports
	switch {
	case o.Eager < 0 || o.Eager > maxEager:
		return fmt.Errorf("messages of %d bytes sent unasked: take 0 to %d", o.Eager, maxEager)
	case o.Window < 4*int(cost(o.Eager)):
		return fmt.Errorf("a window of %d bytes for messages of up to %d: take %d at least", o.Window, o.Eager, 4*cost(o.Eager))
	case o.Bells != nil && len(o.Bells) != own:
		return fmt.Errorf("%d bells for %d ports", len(o.Bells), own)
	}
	if o.Near == 0 {
		o.Near = own
	}
	return nil
}

// A Node is this process's part of processes that have joined.
type Node struct {
	options     Options
	device      *Device
	completions *queue.Completions
	room        int // for so many
	cache       *regcache.Cache
	unwatch     func()  // ends that the cache is told of memory that goes
	links       []*link // by process; nil: this one, and those that something else reaches
	places      []int32 // by rank: its process
	ports       []*Port
	buffers     carrier.Buffers
	watch       carrier.Watch // on the completions

	polling sync.Mutex // who holds it takes completions; it is locked before links are
	taken   [16]queue.Completion

	listener *net.TCPListener
	open     context.Context // until the node closes
	close    context.CancelFunc
	closed   atomic.Bool
	busy     sync.WaitGroup // goroutines
}

// Join makes this process part of a node of all peers that have an address, each of which listens already: where nobody
// listens, the process has ended. The listener and the device are the node's from now on.
func Join(listener *net.TCPListener, d *Device, o Options) (*Node, error) {
	n := &Node{device: d, listener: listener}
	if err := n.begin(o); err != nil {
		listener.Close()
		return nil, errors.Join(fmt.Errorf("join a node by RDMA port %s: %w", d.name, err), n.free())
	}
	n.open, n.close = context.WithCancel(context.Background())
	n.busy.Go(func() { greet.Serve(n.open, listener, make(chan struct{}, greet.MaxStrangers), &n.busy, n.answer) })
	n.busy.Go(n.sweep)
	return n, nil
}

// begin is what may fail.
func (n *Node) begin(o Options) error {
	if err := o.check(); err != nil {
		return err
	}
	n.options = o
	if err := n.place(); err != nil {
		return err
	}
	links := 0
	for _, l := range n.links {
		if l != nil {
			links++
		}
	}
	n.room = max(links, 1) * (sendSlots + maxReads + receiveSlots)
	spare, err := n.spare(links)
	if err != nil {
		return err
	}
	if n.cache, err = regcache.New(n.device.device, regcache.Options{Bytes: spare}); err != nil {
		return err
	}
	if n.unwatch, err = verbs.Watch(n.cache.Journal()); err != nil {
		return err
	}
	if n.completions, err = n.device.port.NewCompletions(n.room); err != nil {
		return err
	}
	return n.watch.Start(n.completions.File(), func() {
		n.completions.Arm()
		n.progress(true) // what came before is not told of
	}, func() {
		n.completions.Heed()
		n.progress(true)
	})
}

// How many bytes of users' buffers stay registered between messages, at most, and how many must be possible.
const (
	mostCached  = 256 << 20
	leastCached = 16 << 20
)

// spare returns how many bytes the cache may keep registered beside the memory of so many links.
func (n *Node) spare(links int) (int64, error) {
	may, err := ib.LockLimit()
	if err != nil {
		return 0, err
	}
	need := uint64(links * n.memorySize())
	if may < need+leastCached {
		return 0, fmt.Errorf("a process may lock %d KiB of memory, but needs %d KiB to talk to %d others: raise it: ulimit -l unlimited (in limits.conf, or LimitMEMLOCK of sshd's or slurmd's unit)",
			may>>10, (need+leastCached)>>10, links)
	}
	return int64(min(may-need, mostCached)), nil
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

func (n *Node) first() int { return n.options.Peers[n.options.Process].First }

// Size returns how many ranks all processes have together.
func (n *Node) Size() int { return len(n.places) }

// Ranks returns the ranks of this process: the first, and how many.
func (n *Node) Ranks() (first, count int) { return n.first(), len(n.ports) }

// Near returns how many ranks share this host's processors.
func (n *Node) Near() int { return n.options.Near }

// Reaches tells whether the node carries messages to a rank.
func (n *Node) Reaches(rank int) bool { return n.linkOf(rank) != nil }

// linkOf returns the link to a rank, nil if the node does not reach it.
func (n *Node) linkOf(rank int) *link {
	if n.places[rank] < 0 {
		return nil
	}
	return n.links[n.places[rank]]
}

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
func (n *Node) Gone(rank int) error { return n.linkOf(rank).gone(rank) }

// Close leaves: to its peers this process is gone. What was sent is still delivered: Close waits until the peers' devices
// have it, and has patience with them.
//
// Preconditions: nobody uses a port, now or later.
func (n *Node) Close() error {
	if n.closed.Swap(true) {
		return os.ErrClosed
	}
	for end, pause := time.Now().Add(n.options.Patience), time.Microsecond; time.Now().Before(end); pause = min(2*pause, time.Millisecond) {
		n.progress(true)
		if !slices.ContainsFunc(n.links, func(l *link) bool { return l != nil && !l.isOver() }) {
			break
		}
		time.Sleep(pause)
	}
	for _, l := range n.links {
		if l != nil {
			l.leave()
		}
	}
	n.watch.Stop()
	n.close()
	n.listener.Close()
	n.busy.Wait()
	n.watch.Close()
	return n.free()
}

// free gives back what begin has taken, as far as it has got.
func (n *Node) free() error {
	var err error
	if n.completions != nil {
		n.completions.Close()
	}
	if n.unwatch != nil {
		n.unwatch()
	}
	if n.cache != nil {
		err = n.cache.Close()
	}
	return errors.Join(err, n.device.Close())
}

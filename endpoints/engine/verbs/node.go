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
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/frame"
	"github.com/tpsl/tpsl/endpoints/engine/greet"
	"github.com/tpsl/tpsl/ib"
)

// mostRails is as many rails as a process may have.
const mostRails = 64

// A Peer is a process: its ranks, and where it listens. Without an address something else carries
// what goes to it.
type Peer struct {
	First, Ports int
	Rails        int    // virtual ones; 0: one
	Address      string // host:port, of TCP
}

// Options say who joins. Zero stands for the default.
type Options struct {
	Peers   []Peer // all processes, this one included
	Process int    // which of them this one is
	Secret  greet.Secret

	Slots    int           // frames that a rail has memory for: 64 for each peer, at most 512
	Eager    int           // bytes of a message that is sent without being asked for: 8 KiB; at most 64
	Window   int           // bytes of messages that a port takes from a process before it wants them: 1 MiB
	Patience time.Duration // how long a peer may be out of reach: 30 s

	// Near is how many ranks share this host's processors; 0: those of this process.
	Near int
	// Bells are those of this process's ports, if others ring them too.
	Bells []*carrier.Bell
	// Lasting has Close leave memory and queue pairs until the process ends. So Close may be called while threads are in calls.
	Lasting bool
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
	o.Peers = slices.Clone(o.Peers)
	for i := range o.Peers {
		p := &o.Peers[i]
		p.Rails = max(p.Rails, 1)
		if p.Rails > min(p.Ports, mostRails) {
			return fmt.Errorf("process %d has %d rails for %d ranks: give it no more than %d", i, p.Rails, p.Ports, min(p.Ports, mostRails))
		}
	}
	switch {
	case o.Eager < 0 || o.Eager > frame.MaxEager:
		return fmt.Errorf("messages of %d bytes sent unasked: take 0 to %d", o.Eager, frame.MaxEager)
	case o.Window < 4*int(frame.Cost(o.Eager)):
		return fmt.Errorf("a window of %d bytes for messages of up to %d: take %d at least", o.Window, o.Eager, 4*frame.Cost(o.Eager))
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
	options   Options
	rails     []*rail
	mostRails int     // of a process
	links     []*link // by process; nil: this one, and those that something else reaches
	places    []int32 // by rank: its process
	ports     []*Port
	buffers   carrier.Buffers

	listener *net.TCPListener
	open     context.Context // until the node closes
	close    context.CancelFunc
	closed   atomic.Bool
	busy     sync.WaitGroup // goroutines
}

// Join makes this process part of a node of all peers that have an address, each of which listens already: where nobody
// listens, the process has ended. The rails are as many as the peer that is this process has. The listener and their devices are the
// node's from now on.
func Join(listener *net.TCPListener, rails []Rail, o Options) (*Node, error) {
	n := &Node{listener: listener}
	for i, r := range rails {
		n.rails = append(n.rails, &rail{node: n, index: i, device: r.Device, place: r.Node})
	}
	if err := n.begin(o); err != nil {
		listener.Close()
		return nil, errors.Join(fmt.Errorf("join a node by RDMA port %s: %w", n.names(), err), n.free())
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
	if own := o.Peers[o.Process].Rails; own != len(n.rails) {
		return fmt.Errorf("%d rails are open for a process of %d", len(n.rails), own)
	}
	if err := n.place(); err != nil {
		return err
	}
	links, lanes := 0, make([]int, len(n.rails))
	for _, l := range n.links {
		if l == nil {
			continue
		}
		links++
		for _, a := range l.lanes {
			lanes[a.rail.index]++
		}
	}
	for _, r := range n.rails {
		r.slots = n.slotsFor(links)
	}
	spare, err := n.spare(links, lanes)
	if err != nil {
		return err
	}
	for i, r := range n.rails {
		if err := r.begin(lanes[i], spare/int64(len(n.rails))); err != nil {
			return err
		}
	}
	return nil
}

// slotsFor returns how many frames of so many peers each rail has memory for.
func (n *Node) slotsFor(links int) int {
	if n.options.Slots > 0 {
		return n.options.Slots
	}
	return min(slotsEach*max(links, 1), mostSlots)
}

// How many bytes of users' buffers stay registered between messages, at most, and how many must be possible.
const (
	mostCached  = 256 << 20
	leastCached = 16 << 20
)

// spare returns how many bytes the caches may keep registered beside the memory of frames, for so many lanes by rail.
func (n *Node) spare(links int, lanes []int) (int64, error) {
	may, err := ib.LockLimit()
	if err != nil {
		return 0, err
	}
	frames := 0
	for i, r := range n.rails {
		frames += r.slots + lanes[i]*sendSlots
	}
	need := uint64(frames * n.slotSize())
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
	for _, p := range o.Peers {
		n.mostRails = max(n.mostRails, p.Rails)
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
// Preconditions: nobody uses a port, now or later, unless the options are Lasting.
func (n *Node) Close() error {
	if n.closed.Swap(true) {
		return os.ErrClosed
	}
	for end, pause := time.Now().Add(n.options.Patience), time.Microsecond; time.Now().Before(end); pause = min(2*pause, time.Millisecond) {
		n.progressAll()
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
	n.close()
	n.listener.Close()
	for _, l := range n.links {
		if l != nil {
			l.waitForHolder() // it may have been about to add to busy; later holders see that the node is closing
		}
	}
	n.busy.Wait()
	if n.options.Lasting {
		n.stopRails()
		lasting.Store(n, true)
		return nil
	}
	return n.free()
}

// lasting has the nodes that Close has left as they are. What they have pinned may not be collected.
var lasting sync.Map

func (n *Node) stopRails() {
	for _, r := range n.rails {
		r.stop()
	}
}

// free gives back what begin has made, as far as it has got, and closes the devices.
func (n *Node) free() error {
	n.stopRails()
	for _, l := range n.links {
		if l == nil {
			continue
		}
		for _, a := range l.lanes {
			if a.pair != nil {
				a.pair.Close()
			}
		}
	}
	var errs []error
	for _, r := range n.rails {
		errs = append(errs, r.free())
	}
	return errors.Join(errs...)
}

// names returns the names of the rails' ports, each once.
func (n *Node) names() string {
	var all []string
	for _, r := range n.rails {
		if !slices.Contains(all, r.device.name) {
			all = append(all, r.device.name)
		}
	}
	return strings.Join(all, ",")
}

// trouble returns what is wrong with a rail's port now, "" if nothing is known.
func (n *Node) trouble() string {
	for _, r := range n.rails {
		if t := r.device.trouble(); t != "" {
			return t
		}
	}
	return ""
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

// A Node is this process's part of processes that have joined.
type Node struct {
	options Options
	self    int // which process this is
	peers   []peer
	places  []place // by rank
	ports   []*Port
	watch   watch
	closed  atomic.Bool
}

// place is where a rank is.
type place struct{ process, port int32 }

// nowhere is the process of a rank that has not joined: something else carries its messages.
const nowhere = -1

// What may be wrong with a peer.
const (
	fine = iota
	ended
	left
	broken
)

// A peer is one process of the node, this one included, as this one sees it.
type peer struct {
	first   int
	pid     int
	pidfd   *os.File // nil for this process
	segment *segment
	tracks  []atomic.Pointer[ring.Ring] // from this process to each of its ports; nil: nothing was sent there
	bells   []*carrier.Bell             // of its ports
	direct  atomic.Bool                 // its memory may be read by process_vm_readv
	fate    atomic.Int32                // fine, ended, left or broken
}

// track returns the track from this process to a port of another, and opens it if nothing was sent there before.
func (n *Node) track(to place) *ring.Ring {
	p := &n.peers[to.process]
	if r := p.tracks[to.port].Load(); r != nil {
		return r
	}
	r := p.segment.track(int(to.port), n.self) // another thread may make a handle, too
	p.segment.open(int(to.port), n.self).Store(1)
	p.segment.opens(int(to.port)).Add(1)
	p.tracks[to.port].Store(r)
	return r
}

// start makes the ports, when all peers are known.
func (n *Node) start() error {
	for k := range n.options.Ports {
		n.ports = append(n.ports, newPort(n, k))
	}
	if err := n.startWatch(); err != nil {
		return errors.Join(fmt.Errorf("join a node: %w", err), n.unmap())
	}
	return nil
}

// Size returns how many ranks all processes have together.
func (n *Node) Size() int { return len(n.places) }

// Ranks returns the ranks of this process: the first, and how many.
func (n *Node) Ranks() (first, count int) { return n.options.First, n.options.Ports }

func (n *Node) isOwn(rank int) bool { return int(n.places[rank].process) == n.self }

// Near returns the same as Size, as far as ranks have joined: a node is of one host.
func (n *Node) Near() (count int) {
	for i := range n.peers {
		count += len(n.peers[i].tracks)
	}
	return count
}

// Reaches tells whether a rank is of another process that has joined.
func (n *Node) Reaches(rank int) bool { return n.places[rank].process != nowhere && !n.isOwn(rank) }

// Port returns the port of a rank of this process, nil for any other.
func (n *Node) Port(rank int) carrier.Port {
	if p := n.port(rank); p != nil {
		return p
	}
	return nil
}

func (n *Node) port(rank int) *Port {
	if k := rank - n.options.First; uint(k) < uint(len(n.ports)) {
		return n.ports[k]
	}
	return nil
}

// Gone returns nil, or for a rank whose process is gone a GoneError.
func (n *Node) Gone(rank int) error {
	process := int(n.places[rank].process)
	if n.look(process) == fine {
		return nil
	}
	return n.goneError(rank)
}

func (n *Node) goneError(rank int) error {
	p := &n.peers[n.places[rank].process]
	why := "its process has closed its node"
	switch p.fate.Load() {
	case ended:
		why = fmt.Sprintf("its process %d has ended", p.pid)
	case broken:
		why = fmt.Sprintf("what its process %d sends makes no sense", p.pid)
	}
	return &carrier.GoneError{Rank: rank, Why: why}
}

// look returns what is wrong with a peer, as far as it is known.
func (n *Node) look(process int) int32 {
	p := &n.peers[process]
	if f := p.fate.Load(); f != fine {
		return f
	}
	if p.segment.header.left.Load() != 0 {
		p.fate.CompareAndSwap(fine, left)
	}
	return p.fate.Load()
}

// condemn notes what is wrong with a peer and has all ports of this process look.
func (n *Node) condemn(process int, fate int32) {
	n.look(process) // it may have left before
	n.peers[process].fate.CompareAndSwap(fine, fate)
	n.alarm(n.self)
}

// alarm has all ports of a process look at the fates of its peers. They are woken
// whatever their bells say: a peer may have ended while it rang.
func (n *Node) alarm(process int) {
	p := &n.peers[process]
	p.segment.header.changes.Add(1)
	for _, b := range p.bells {
		b.Alarm()
	}
}

// Close leaves the node: to its peers this process is gone.
//
// Preconditions: nobody uses a port, now or later, unless the options are Lasting.
func (n *Node) Close() error {
	if n.closed.Swap(true) {
		return os.ErrClosed
	}
	n.stopWatch()
	n.peers[n.self].segment.header.left.Store(1)
	for i := range n.peers {
		if i != n.self {
			n.alarm(i)
		}
	}
	if n.options.Lasting {
		return nil
	}
	return n.unmap()
}

// unmap gives back what the peers' segments take, as far as there are any.
func (n *Node) unmap() error {
	var errs []error
	for i := range n.peers {
		p := &n.peers[i]
		if p.segment != nil {
			errs = append(errs, p.segment.unmap())
		}
		if p.pidfd != nil {
			errs = append(errs, p.pidfd.Close())
		}
	}
	return errors.Join(errs...)
}

// lives tells whether a peer is there at this moment: what was read from its
// memory before was read from that process, and not from a later one of its number.
func (p *peer) lives() bool {
	fds := []unix.PollFd{{Fd: int32(p.pidfd.Fd()), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds, 0)
		if !errors.Is(err, unix.EINTR) {
			return err == nil && n == 0 && p.segment.header.left.Load() == 0
		}
	}
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package verbs

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/ib/verbs/queue"
)

// What may be wrong with a peer.
const (
	fine   = iota
	left   // it has said so
	ended  // the connection to it has ended, or nobody listens at its address any more
	silent // it could not be reached for too long
	broken // it sends what makes no sense
	parted // it holds this process for gone
	failed // a queue pair has
	unable // this process cannot do what it takes
)

// A link is what this process shares with another one.
type link struct {
	node                *Node
	peer                int // the other process
	first, ports, rails int // its ranks, and how many rails they have
	address             string
	lanes               []*lane // as many as the side with more rails has

	lock      sync.Mutex   // it is locked before lanes are
	fate      atomic.Int32 // fine, or what is wrong
	detail    string       // failed, unable: why
	dialling  bool
	answering bool         // the peer, who has dialled
	conn      *net.TCPConn // tells of the peer's end; nil: not connected
	up        atomic.Bool  // the lanes are
	wounded   atomic.Bool  // a queue pair has failed, and it is not known yet why

	sent, came atomic.Uint64  // frames
	credit     []atomic.Int64 // by port of the peer and rail of this process: how much more it takes from there
	owed       []atomic.Int64 // by port of this process and rail of the peer: what it has not taken of its window
}

func newLink(n *Node, process int) *link {
	p := n.options.Peers[process]
	own := n.options.Peers[n.options.Process]
	l := &link{node: n, peer: process, first: p.First, ports: p.Ports, rails: p.Rails, address: p.Address}
	for i := range max(own.Rails, p.Rails) {
		l.lanes = append(l.lanes, &lane{link: l, rail: n.rails[i%own.Rails]})
	}
	l.owed = make([]atomic.Int64, own.Ports*p.Rails)
	l.credit = make([]atomic.Int64, p.Ports*own.Rails)
	for i := range l.credit {
		l.credit[i].Store(int64(n.options.Window))
	}
	return l
}

// railOf returns which of the peer's rails serves a rank.
func (l *link) railOf(rank int) int { return railOf(rank-l.first, l.ports, l.rails) }

// to returns the lane to a rank of the peer's.
func (l *link) to(rank int) *lane { return l.lanes[l.railOf(rank)] }

// in returns the lane by which a port of this process gets what is for it.
func (l *link) in(p *Port) *lane { return l.lanes[p.rail.index] }

// creditOf returns how much more a rank of the peer's takes from a port's rail.
func (l *link) creditOf(rank int, p *Port) *atomic.Int64 {
	return &l.credit[(rank-l.first)*len(l.node.rails)+p.rail.index]
}

// owedBy returns what a port has not taken of its window for a rail of the peer's.
func (l *link) owedBy(p *Port, rail int) *atomic.Int64 { return &l.owed[p.index()*l.rails+rail] }

// prepare makes the pairs of all lanes, and what they need.
//
// Preconditions: the lock is held.
func (l *link) prepare() error {
	for _, a := range l.lanes {
		if err := a.prepare(); err != nil {
			return err
		}
	}
	return nil
}

// open has a link connected that something is to be sent by, and makes what it takes to send.
func (l *link) open() {
	l.lock.Lock()
	var err error
	if !l.up.Load() && l.fate.Load() == fine {
		l.connect()
		err = l.prepare()
	}
	l.lock.Unlock()
	if err != nil {
		l.bury(unable, err.Error())
	}
}

// rise has all lanes send.
//
// Preconditions: the lock is held, and the peer's pairs take frames.
func (l *link) rise() {
	for _, a := range l.lanes {
		a.rise()
	}
	l.up.Store(true)
}

// answerLimit is how long the peer's own end has to be told of, when a queue pair has failed: it is why, most often.
const answerLimit = time.Second

// wound notes that a pair has failed.
func (l *link) wound(why string) {
	if l.fate.Load() != fine || l.wounded.Swap(true) {
		return
	}
	n := l.node
	n.busy.Go(func() {
		select {
		case <-time.After(answerLimit):
			if trouble := n.trouble(); trouble != "" {
				why += ": " + trouble
			}
			n.end(l, failed, why)
		case <-n.open.Done():
		}
	})
}

// end ends a link when all that has come of the peer is with the ports.
func (n *Node) end(l *link, fate int32, detail string) {
	for _, r := range n.rails {
		for left := r.room / len(r.taken); left >= 0; left -= takesAtOnce { // what comes later is not waited for
			n.progress(r, true)
		}
	}
	l.bury(fate, detail)
}

// bury ends all that is under way with a peer.
//
// Preconditions: no lock is held.
func (l *link) bury(fate int32, detail string) {
	l.lock.Lock()
	if l.fate.Load() != fine {
		l.lock.Unlock()
		return
	}
	l.detail = detail
	l.fate.Store(fate)
	if l.conn != nil {
		l.conn.Close()
	}
	l.lock.Unlock()
	for _, a := range l.lanes {
		a.end()
	}
	for _, p := range l.node.ports {
		p.events.Put(event{kind: carrier.Gone, peer: l.peer})
		p.Bell().Ring()
	}
}

// gone returns nil, or a GoneError of a rank of the peer's.
func (l *link) gone(rank int) error {
	var why string
	switch l.fate.Load() {
	case fine:
		return nil
	case left:
		why = "its process has closed its node"
	case ended:
		why = fmt.Sprintf("its process has ended: its connection at %s is over", l.address)
	case silent:
		why = fmt.Sprintf("its process could not be reached at %s for too long", l.address)
	case broken:
		why = fmt.Sprintf("what its process at %s sends makes no sense", l.address)
	case parted:
		why = fmt.Sprintf("its process at %s holds this one for gone", l.address)
	case failed:
		why = fmt.Sprintf("RDMA port %s does not reach its process at %s: %s", l.node.names(), l.address, l.detail)
	case unable:
		why = fmt.Sprintf("this process cannot talk to it by RDMA port %s: %s", l.node.names(), l.detail)
	}
	return &carrier.GoneError{Rank: rank, Why: why}
}

// waitForHolder returns when whoever holds the lock has let go.
func (l *link) waitForHolder() {
	l.lock.Lock()
	defer l.lock.Unlock()
}

// isOver tells whether the peer's devices have all that was sent, or the peer is gone.
func (l *link) isOver() bool {
	if l.fate.Load() != fine || l.wounded.Load() {
		return true
	}
	for _, a := range l.lanes {
		if !a.isIdle() {
			return false
		}
	}
	return true
}

// leave says goodbye, and how many frames were sent, and ends the link.
func (l *link) leave() {
	l.lock.Lock()
	if l.up.Load() && !l.wounded.Load() && l.fate.Load() == fine {
		_ = l.say(sayBye, l.sent.Load())
	}
	l.lock.Unlock()
	l.bury(left, "")
}

// addresses returns where this side's pairs are, of all lanes in their order.
//
// Preconditions: prepare has made them.
func (l *link) addresses() (b []byte) {
	for _, a := range l.lanes {
		address := a.pair.Address()
		b = append(b, address.Encode()...)
	}
	return b
}

// join connects the pairs with those of the peer.
func (l *link) join(addresses []byte) error {
	for i, a := range l.lanes {
		if err := a.pair.Connect(queue.DecodeAddress(addresses[i*queue.AddressSize:])); err != nil {
			return err
		}
	}
	return nil
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/frame"
)

// What may be wrong with a peer.
const (
	fine   = iota
	left   // it has said so
	ended  // nobody listens at its address any more
	silent // it could not be reached for too long
	broken // it sends what makes no sense
	parted // it holds this process for gone
)

var whys = [...]string{
	left:   "its process has closed its node",
	ended:  "its process has ended: nobody listens at %s any more",
	silent: "its process could not be reached at %s for too long",
	broken: "what its process at %s sends makes no sense",
	parted: "its process at %s holds this one for gone",
}

// A link is what this process shares with another one. Who holds in may lock out, not the
// other way round. Both are locked when the connection or the fate changes.
type link struct {
	node         *Node
	peer         int          // the other process
	first, ports int          // its ranks
	addresses    []string     // several: the link has rails
	pair         atomic.Int32 // of addresses, by which the next connection is tried; counts on

	in   incoming
	out  outgoing
	fate atomic.Int32 // fine, or what is wrong

	greeting    sync.Mutex // of connections that are being made
	connections uint64     // that were made, as who dials counts; under in and out
	mending     atomic.Bool
	resting     atomic.Bool // nothing more is written by this connection; set under out

	last  mark // of the sweep, under in
	quiet int  // looks that found nothing new
}

func newLink(n *Node, process int) *link {
	p := n.options.Peers[process]
	l := &link{node: n, peer: process, first: p.First, ports: p.Ports, addresses: p.addresses()}
	l.in.socket, l.out.socket = -1, -1
	l.in.owed = make([]atomic.Int64, n.options.Peers[n.options.Process].Ports)
	l.out.credit = make([]int64, p.Ports)
	for i := range l.out.credit {
		l.out.credit[i] = int64(n.options.Window)
	}
	if len(l.addresses) > 1 {
		for range l.addresses {
			l.in.rails, l.out.rails = append(l.in.rails, inRail{socket: -1}), append(l.out.rails, outRail{socket: -1})
		}
	}
	return l
}

// dials tells whether it is this process that makes the connection.
func (l *link) dials() bool { return l.node.options.Process < l.peer }

// cut ends the connection: whoever reads next finds its end.
//
// Preconditions: out is locked.
func (l *link) cut() {
	if l.out.socket >= 0 {
		_ = unix.Shutdown(l.out.socket, unix.SHUT_RDWR)
	}
}

// broke notes that the connection is over, and has another one made, unless this side had done with it: that
// nobody is there any more is found so.
//
// Preconditions: in is locked.
func (l *link) broke() {
	l.out.Lock()
	defer l.out.Unlock()
	l.out.asked = l.out.asked || !l.resting.Load()
	l.pair.Add(1)
	l.disconnect()
	if l.wants() {
		l.node.mend(l)
	}
}

// disconnect drops the connection. Nothing more is read or written by it.
//
// Preconditions: in and out are locked.
func (l *link) disconnect() {
	if l.out.socket < 0 {
		return
	}
	l.waitForRoom(false)
	// A watch that has just looked at the socket may keep the kernel from closing it until it wakes up.
	l.cut()
	_ = unix.Close(l.out.socket) // which takes it out of the epoll set
	l.in.socket, l.out.socket = -1, -1
	l.resting.Store(false)
	if in := &l.in; in.first == in.last && in.buffer != nil {
		l.node.buffers.Put(in.buffer)
		in.buffer, in.first, in.last = nil, 0, 0
	}
}

// pause drops the connection for a new one, and returns how much has come.
func (l *link) pause() (received uint64) {
	l.in.Lock()
	defer l.in.Unlock()
	l.out.Lock()
	defer l.out.Unlock()
	l.disconnect()
	return l.in.received
}

// connect goes on with a new connection, by its number, whose other side has got so far. The socket is the link's from now on.
func (l *link) connect(socket int, number, position uint64) error {
	l.in.Lock()
	defer l.in.Unlock()
	l.out.Lock()
	defer l.out.Unlock()
	l.disconnect()
	if l.fate.Load() != fine {
		_ = unix.Close(socket)
		return l.goneError(l.first)
	}
	if !l.resume(position) {
		_ = unix.Close(socket)
		l.bury(broken)
		return l.goneError(l.first)
	}
	l.in.open(&l.node.buffers)
	l.in.socket, l.out.socket = socket, socket
	if err := l.node.watched(socket, l.peer, ofStream); err != nil {
		l.disconnect()
		return err
	}
	l.connections, l.out.asked, l.quiet = number, false, 0
	l.flush()
	return nil
}

// buryHeld is bury for who has locked in only.
func (l *link) buryHeld(fate int32) {
	l.out.Lock()
	defer l.out.Unlock()
	l.bury(fate)
}

// bury ends all that is under way with a peer. What it had sent before is with the ports already.
//
// Preconditions: in and out are locked.
func (l *link) bury(fate int32) {
	if !l.fate.CompareAndSwap(fine, fate) {
		return
	}
	l.disconnect()
	l.closeRails()
	l.out.sends.Used(func(key uint64, _ *send) { l.endSend(key, true) })
	l.in.receives.Used(func(key uint64, r *receive) { l.endReceive(key, r, true) })
	l.out.streams, l.out.segments, l.out.chunk, l.out.full, l.in.buffer = nil, nil, nil, nil, nil
	l.in.first, l.in.last, l.in.into, l.in.left = 0, 0, 0, 0
	l.out.acked, l.out.sent = l.out.end, l.out.end
	for _, p := range l.node.ports {
		p.events.Put(event{kind: carrier.Gone, peer: l.peer})
		p.Bell().Ring()
	}
}

// lose is bury for who has locked nothing.
func (l *link) lose(fate int32) {
	l.in.Lock()
	defer l.in.Unlock()
	l.buryHeld(fate)
}

// goneError says what became of the peer that has a rank.
func (l *link) goneError(rank int) error {
	why := whys[l.fate.Load()]
	if l.fate.Load() != left {
		why = fmt.Sprintf(why, strings.Join(l.addresses, " and "))
	}
	return &carrier.GoneError{Rank: rank, Why: why}
}

// made is how many connections this side knows of.
func (l *link) made() uint64 {
	l.out.Lock()
	defer l.out.Unlock()
	return l.connections
}

// leave says goodbye, behind all that was sent, to who has ever been met or is to be.
func (l *link) leave() {
	l.out.Lock()
	defer l.out.Unlock()
	if l.fate.Load() == fine && (l.connections > 0 || l.out.end > 0) {
		l.begin(frame.Header{Kind: frameBye})
		l.flush()
	}
}

// waitForHolder returns when whoever holds out has let go.
func (l *link) waitForHolder() {
	l.out.Lock()
	defer l.out.Unlock()
}

// isOver tells whether the peer has all that it must get, or is gone.
func (l *link) isOver() bool {
	l.out.Lock()
	defer l.out.Unlock()
	return l.fate.Load() != fine || l.out.acked >= l.out.due
}

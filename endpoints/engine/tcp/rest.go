// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"time"

	"github.com/tpsl/tpsl/endpoints/engine/frame"
)

// A link has a connection while there is something to carry. Who has something that the peer must get has one
// made (mend); who has had nothing for a while, either way, proposes to do without it: he rests.
// He writes nothing more by this connection, and the peer drops it when it reads that, unless it has sent
// something meanwhile. That is on its way, then, and ends the rest when it comes. So
// nobody writes into a connection that the other side has dropped by agreement.

// owes tells whether there is something that the peer must get and may not have.
//
// Preconditions: out is locked.
func (l *link) owes() bool {
	return l.out.acked < l.out.due || len(l.out.streams) > 0 || l.out.striping > 0
}

// wants tells whether the link is to have a connection, and has none to write to.
//
// Preconditions: out is locked.
func (l *link) wants() bool {
	o := &l.out
	return (o.socket < 0 || l.resting.Load()) && l.fate.Load() == fine && (o.asked || l.node.options.AtStart || l.owes())
}

// stillWants is wants for who has locked nothing.
func (l *link) stillWants() bool {
	l.out.Lock()
	defer l.out.Unlock()
	return l.wants()
}

// unpolled is how long what a peer sends may lie in the kernel when no port polls or sleeps.
const unpolled = time.Second

// sweep reads what nobody polls for, as a peer that leaves waits until it is read, and looks after quiet
// connections, until the node closes.
func (n *Node) sweep() {
	unread, quiet := time.NewTicker(unpolled), time.NewTicker(n.options.Idle/2)
	defer unread.Stop()
	defer quiet.Stop()
	if n.options.AtStart { // all are kept
		quiet.Stop()
	}
	for {
		select {
		case <-unread.C:
			for range n.links { // not for ever, where something always comes
				if !n.progressUntil(true, 0) {
					break
				}
			}
		case <-quiet.C:
			for _, l := range n.links {
				if l != nil {
					l.look()
				}
			}
		case <-n.open.Done():
			return
		}
	}
}

// A mark is how far a link had come when it was looked at: frames that matter from the peer, bytes of such
// frames to it.
type mark struct{ came, due uint64 }

// look is one look of the sweep: at the second one that finds nothing new the peer is told what has come
// of it, so that it may rest, too, and at the third this side rests.
func (l *link) look() {
	l.restRails()
	l.in.Lock()
	defer l.in.Unlock()
	l.read() // what nobody has polled for
	if l.in.socket < 0 {
		return
	}
	l.out.Lock()
	now := mark{l.in.came, l.out.due}
	l.out.Unlock()
	if now != l.last {
		l.last, l.quiet = now, 0
		return
	}
	if l.quiet++; l.quiet > 1 {
		l.rest()
	} else if l.in.received != l.in.acked {
		l.acknowledge()
	}
}

// rest proposes to drop the connection, if nothing is under way.
//
// Preconditions: in is locked, and there is a connection.
func (l *link) rest() {
	in, o := &l.in, &l.out
	expects := in.first != in.last || in.into != 0
	in.receives.Used(func(uint64, *receive) { expects = true })
	o.Lock()
	defer o.Unlock()
	if expects || l.owes() || o.sent != o.end || l.resting.Load() {
		return
	}
	frame.SetWords(l.begin(frame.Header{Kind: frameRest, Length: 2 * frame.WordSize}), in.received, l.connections)
	l.flush()
	l.resting.Store(o.socket >= 0 && o.sent == o.end)
}

// peerRests drops the connection by which the peer writes nothing more, unless this side has sent what the peer did
// not have when it said so. It tells whether the peer can have what it says. What it said by an earlier connection may
// come again by this one.
//
// Preconditions: in and out are locked.
func (l *link) peerRests(position, connection uint64) bool {
	if !l.acknowledged(position) {
		return false
	}
	if connection == l.connections && !l.owes() {
		l.disconnect()
	}
	return true
}

// awake ends a rest: the peer goes on with the connection.
//
// Preconditions: in is locked.
func (l *link) awake() {
	l.out.Lock()
	defer l.out.Unlock()
	l.resting.Store(false)
	l.flush()
}

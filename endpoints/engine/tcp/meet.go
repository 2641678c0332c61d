// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"errors"
	"net"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine/greet"
)

const (
	firstPause   = 10 * time.Millisecond
	longestPause = 500 * time.Millisecond
)

func (n *Node) greetingLimit() time.Duration { return min(greet.Limit, n.options.Patience) }

// limited returns the talk of a connection that ends with the node, and in time.
func (n *Node) limited(conn net.Conn) (t *talk, stop func() bool) {
	return newTalk(conn, n.options.Secret), greet.Within(n.open, conn, n.greetingLimit())
}

// answer greets who has dialled. Strangers get nothing but the end.
func (n *Node) answer(conn *net.TCPConn) {
	defer conn.Close()
	t, stop := n.limited(conn)
	defer stop()
	h, position, err := t.challenge()
	if err != nil || h.To != uint32(n.options.Process) || h.From >= uint32(len(n.links)) {
		return
	}
	l := n.links[h.From]
	if l == nil {
		return
	}
	l.greeting.Lock()
	defer l.greeting.Unlock()
	switch {
	case l.fate.Load() != fine:
		_ = t.decide(refused, 0)
	case h.Purpose == forNudge && l.dials():
		n.nudged(l, h.Number)
	case h.Purpose == forParts && h.Number < uint64(len(l.in.rails)):
		l.welcomeRail(int(h.Number), t, conn)
	case h.Purpose == forFrames && !l.dials():
		number, received := h.Number+1, l.pause()
		err := t.decide(welcome, received)
		if err == nil {
			err = n.adopt(l, conn, number, position)
		}
		if err != nil {
			l.missed(number)
		}
	}
}

// nudged dials again if the connection that the peer misses is the present one.
func (n *Node) nudged(l *link, connections uint64) {
	l.in.Lock()
	defer l.in.Unlock()
	l.out.Lock()
	defer l.out.Unlock()
	if l.connections <= connections {
		l.disconnect()
		l.out.asked = true
		n.mend(l)
	}
}

// adopt makes a connection, by its number, the link's.
func (n *Node) adopt(l *link, conn *net.TCPConn, number, position uint64) error {
	socket, err := detach(conn, l.silence())
	if err != nil {
		return err
	}
	if err := l.connect(socket, number, position); err != nil {
		return err
	}
	n.tell()
	return nil
}

// missed notes a connection that who dialled may hold for made, and this process does not, so that it counts as who
// dials does: else that one would not hear when it is asked for another.
func (l *link) missed(number uint64) {
	l.in.Lock()
	defer l.in.Unlock()
	l.out.Lock()
	defer l.out.Unlock()
	l.connections = max(l.connections, number)
	if l.wants() {
		l.node.mend(l)
	}
}

// tell lets Join look again.
func (n *Node) tell() {
	select {
	case n.came <- struct{}{}:
	default:
	}
}

// detach takes the socket out of Go's hands, and so out of its poller, which would wake a
// thread for each message.
func detach(conn *net.TCPConn, patience time.Duration) (socket int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return -1, err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		// A peer that does not answer is a broken connection (tcp(7)).
		failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(patience.Milliseconds()))
		if failed == nil {
			socket, failed = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0)
		}
	})
	return socket, errors.Join(err, failed)
}

// mend has a connection made, if nobody does already.
func (n *Node) mend(l *link) {
	if l.fate.Load() == fine && n.open.Err() == nil && l.mending.CompareAndSwap(false, true) {
		n.busy.Go(func() {
			n.reach(l)
			l.mending.Store(false)
			if l.stillWants() { // it broke again while nobody else could begin
				n.mend(l)
			}
		})
	}
}

// reach makes a connection, or nudges the peer to make one, until there is one. When patience is over it tries once more, because this
// process may have been stopped meanwhile. A connection that is wanted after that has patience of its own.
func (n *Node) reach(l *link) {
	begin, pause, purpose := time.Now(), firstPause, uint32(forFrames)
	if !l.dials() {
		purpose = forNudge
	}
	for made := l.made(); l.made() == made && l.stillWants(); {
		last := time.Since(begin) > n.options.Patience
		err := n.dial(l, purpose)
		switch {
		case n.open.Err() != nil:
			return
		case errors.Is(err, unix.ECONNREFUSED):
			l.lose(ended)
		case errors.Is(err, errRefused):
			l.lose(parted)
		case last:
			if purpose == forNudge {
				n.awaitDial(l, made)
			}
			if n.open.Err() == nil && l.made() == made && l.stillWants() {
				l.lose(silent)
			}
		}
		if l.fate.Load() != fine {
			n.tell()
			return
		}
		if l.made() == made && l.stillWants() {
			select {
			case <-time.After(pause):
			case <-n.open.Done():
				return
			}
			pause = min(2*pause, longestPause)
		}
	}
}

// awaitDial waits for a nudged peer to dial. The limit is that for the answer of a peer that is dialled. It counts pauses, so that the time
// in which this process is stopped does not count.
func (n *Node) awaitDial(l *link, made uint64) {
	for left := n.greetingLimit() / firstPause; left > 0 && n.open.Err() == nil && l.made() == made && l.stillWants(); left-- {
		time.Sleep(firstPause)
	}
}

var errRefused = errors.New("the peer holds this process for gone")

// dial makes a connection, by the next pair of addresses if it cannot by this one.
func (n *Node) dial(l *link, purpose uint32) (err error) {
	defer func() {
		if err != nil {
			l.pair.Add(1)
		}
	}()
	pair := int(uint32(l.pair.Load()) % uint32(len(l.addresses)))
	conn, err := l.dialer(pair).DialContext(n.open, "tcp", l.addresses[pair])
	if err != nil {
		return err
	}
	defer conn.Close()
	t, stop := n.limited(conn)
	defer stop()
	l.out.Lock()
	wanted := l.wants() // the peer may have dialled meanwhile: then it is not to hear of this number
	h := greet.Hello{From: uint32(n.options.Process), To: uint32(l.peer), Purpose: purpose, Number: l.connections}
	l.out.Unlock()
	if !wanted {
		return nil
	}
	received := l.pause
	if purpose == forNudge { // which is not answered, unless it is refused
		received = func() uint64 { return 0 }
	}
	verdict, position, err := t.open(h, received)
	switch {
	case err != nil:
		return err
	case verdict != welcome:
		return errRefused
	}
	return n.adopt(l, conn.(*net.TCPConn), h.Number+1, position)
}

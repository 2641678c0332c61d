// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"errors"
	"fmt"
	"net"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine/greet"
)

// Two processes that listen at several addresses each have a rail for each pair of them: a connection
// for parts of large messages, one way. Whoever sends dials. The stream stays what it is, and goes by one of the pairs.
// A rail that breaks is forgotten: parts that the stream has not acknowledged go by the others.

const maxRails = 16

// addresses returns all at which a process listens.
func (p *Peer) addresses() []string { return append([]string{p.Address}, p.Rails...) }

// checkRails tells what is wrong with the addresses of a process and of its peers.
func (o *Options) checkRails() error {
	own := o.Peers[o.Process].addresses()
	if len(own) != len(o.Rails)+1 {
		return fmt.Errorf("%d addresses of this process, and listeners at %d", len(own), len(o.Rails)+1)
	}
	for process, p := range o.Peers {
		if p.Address == "" && process != o.Process {
			continue
		}
		all := p.addresses()
		if len(all) != len(own) {
			return fmt.Errorf("process %d listens at %d addresses, and this one at %d: give each process as many, in the same order of networks", process, len(all), len(own))
		}
		if len(all) == 1 {
			continue
		}
		if len(all) > maxRails {
			return fmt.Errorf("process %d listens at %d addresses: take %d at most", process, len(all), maxRails)
		}
		seen := map[string]bool{}
		for _, address := range all {
			host, _, err := net.SplitHostPort(address)
			if err != nil {
				return fmt.Errorf("process %d listens at %q: want host:port", process, address)
			}
			if seen[host] {
				return fmt.Errorf("process %d listens at %s twice: give each rail an address of its own", process, host)
			}
			seen[host] = true
		}
	}
	return nil
}

// silence is how long what a connection carries may stay unanswered. Where there is another way, that is soon tried.
func (l *link) silence() time.Duration {
	if len(l.addresses) > 1 {
		return l.node.options.Patience / 10
	}
	return l.node.options.Patience
}

// dialer dials by a pair of addresses.
func (l *link) dialer(pair int) *net.Dialer {
	d := &net.Dialer{Timeout: min(l.node.greetingLimit(), l.silence())}
	if len(l.addresses) > 1 {
		if own := l.node.listeners[pair].Addr().(*net.TCPAddr); !own.IP.IsUnspecified() {
			d.LocalAddr = &net.TCPAddr{IP: own.IP, Zone: own.Zone}
		}
	}
	return d
}

// wantsRails tells whether there is something for rails.
//
// Preconditions: out is locked.
func (l *link) wantsRails() bool {
	return l.fate.Load() == fine && (l.out.striping > 0 || l.node.options.AtStart)
}

// drive writes parts by all rails, and has those made that there are not.
//
// Preconditions: out is locked.
func (l *link) drive() {
	if !l.wantsRails() {
		return
	}
	for i := range l.out.rails {
		r := &l.out.rails[i]
		switch {
		case r.socket >= 0:
			l.writeParts(i)
		case !r.dialling && l.node.open.Err() == nil:
			r.dialling = true
			l.node.busy.Go(func() { l.reachRail(i) })
		}
	}
}

// reachRail makes a rail, until there is nothing more for it. If there was no rail for longer than patience, and one more try fails, the
// peer is gone.
func (l *link) reachRail(i int) {
	begin, r := time.Now(), &l.out.rails[i]
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		l.out.Lock()
		last := l.lacksRails(begin)
		l.out.Unlock()
		l.dialRail(i) // its error is that there is no rail yet
		l.out.Lock()
		if r.socket >= 0 || !l.wantsRails() {
			r.dialling = false
			l.out.Unlock()
			return
		}
		lost := last && l.lacksRails(begin)
		l.out.Unlock()
		if lost {
			l.lose(silent)
			return
		}
		select {
		case <-time.After(pause):
		case <-l.node.open.Done():
			return
		}
	}
}

// lacksRails tells whether there is something for rails, there has been no rail for longer than patience, and this one has been
// dialled for as long.
//
// Preconditions: out is locked.
func (l *link) lacksRails(dialled time.Time) bool {
	return l.out.striping > 0 && !l.anyRail() && min(time.Since(dialled), time.Since(l.out.railed)) > l.node.options.Patience
}

// anyRail tells whether there is one.
//
// Preconditions: out is locked.
func (l *link) anyRail() bool {
	for i := range l.out.rails {
		if l.out.rails[i].socket >= 0 {
			return true
		}
	}
	return false
}

// dialRail makes a rail once, if it can.
func (l *link) dialRail(i int) {
	n := l.node
	conn, err := l.dialer(i).DialContext(n.open, "tcp", l.addresses[i])
	if err != nil {
		return
	}
	defer conn.Close()
	t, stop := n.limited(conn)
	defer stop()
	h := greet.Hello{From: uint32(n.options.Process), To: uint32(l.peer), Purpose: forParts, Number: uint64(i)}
	verdict, _, err := t.open(h, func() uint64 { return 0 })
	if err != nil || verdict != welcome {
		return
	}
	socket, err := detach(conn.(*net.TCPConn), l.silence())
	if err != nil {
		return
	}
	l.out.Lock()
	defer l.out.Unlock()
	r := &l.out.rails[i]
	if l.fate.Load() != fine || n.watched(socket, l.peer, sends(i)) != nil {
		_ = unix.Close(socket)
		return
	}
	r.socket = socket
	l.writeParts(i)
}

// welcomeRail takes a rail that the peer has dialled, in place of an earlier one.
func (l *link) welcomeRail(i int, t *talk, conn *net.TCPConn) {
	if t.decide(welcome, 0) != nil {
		return
	}
	socket, err := detach(conn, l.silence())
	if err != nil {
		return
	}
	l.in.Lock()
	defer l.in.Unlock()
	l.closeIn(i)
	if l.fate.Load() != fine || l.node.watched(socket, l.peer, receives(i)) != nil {
		_ = unix.Close(socket)
		return
	}
	l.in.rails[i].socket = socket
}

// What an event of a link is about: its stream, or a rail by which it sends or receives.
const ofStream = 0

func sends(rail int) int32    { return int32(1 + rail) }
func receives(rail int) int32 { return int32(-1 - rail) }

// progressRail moves a rail on that has something, unless another thread does that and the caller cannot wait.
func (l *link) progressRail(about int32, events uint32, wait bool) {
	if about < 0 {
		if hold(&l.in.Mutex, wait) {
			defer l.in.Unlock()
			l.readParts(int(-about) - 1)
		}
		return
	}
	if !hold(&l.out.Mutex, wait) {
		return
	}
	defer l.out.Unlock()
	i := int(about) - 1
	if events&^unix.EPOLLOUT != 0 && l.out.rails[i].over() {
		l.closeOut(i)
	} else {
		l.writeParts(i)
	}
}

// over tells whether a rail by which this side sends has ended: the peer writes nothing by it.
func (r *outRail) over() bool {
	var b [1]byte
	_, err := unix.Read(r.socket, b[:])
	return r.socket >= 0 && !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR)
}

// restRails closes the rails by which nothing was sent for as long as a quiet stream rests. Either side
// may: what was on its way would come by another one.
func (l *link) restRails() {
	l.out.Lock()
	defer l.out.Unlock()
	if l.out.striping > 0 {
		return
	}
	if l.out.unused++; l.out.unused > 2 {
		for i := range l.out.rails {
			l.closeOut(i)
		}
	}
}

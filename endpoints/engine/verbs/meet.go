// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package verbs

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine/greet"
	"github.com/tpsl/tpsl/ib/verbs/queue"
)

const (
	carrierName  = "tpsl-ibv"
	forFrames    = 1 // the purpose of each connection
	firstPause   = 10 * time.Millisecond
	longestPause = 500 * time.Millisecond
)

// The verdicts: the first byte. Behind it is where the pair of who was dialled is.
const (
	welcome = iota + 1
	crossed // both have dialled: who has the lower number goes on
	refused // the peer is gone for who was dialled
)

// What is said by a connection after the greeting: a byte, then a number of eight bytes.
const (
	sayReady = iota + 1 // the pair of who has dialled takes frames
	sayBye              // the process leaves, and has sent so many frames, which are all with the peer's device
	saySize  = 9
)

func (l *link) say(what byte, number uint64) error {
	_ = l.conn.SetWriteDeadline(time.Now().Add(l.node.options.Patience))
	_, err := l.conn.Write(binary.LittleEndian.AppendUint64([]byte{what}, number))
	return err
}

// hasPriority tells whether this process goes on when both have dialled.
func (l *link) hasPriority() bool { return l.node.options.Process < l.peer }

// connect has the link connected, if nobody does already.
//
// Preconditions: the lock is held.
func (l *link) connect() {
	n := l.node
	if l.dialling || l.answering || l.conn != nil || l.fate.Load() != fine || n.open.Err() != nil {
		return
	}
	l.dialling = true
	n.busy.Go(func() {
		n.reach(l)
		l.lock.Lock()
		l.dialling = false
		l.lock.Unlock()
	})
}

func (l *link) isConnected() bool {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.conn != nil
}

var (
	errCrossed = errors.New("the peer dials, too")
	errRefused = errors.New("the peer holds this process for gone")
)

// reach dials until the link is connected, or the peer is gone.
func (n *Node) reach(l *link) {
	for begin, pause := time.Now(), firstPause; ; pause = min(2*pause, longestPause) {
		final, err := n.dial(l)
		switch {
		case n.open.Err() != nil || l.isConnected() || l.fate.Load() != fine:
			return
		case errors.Is(err, unix.ECONNREFUSED) || final && errors.Is(err, io.EOF):
			n.end(l, ended, "")
		case errors.Is(err, errRefused):
			n.end(l, parted, "")
		case final || time.Since(begin) > n.options.Patience:
			n.end(l, silent, "")
		}
		select {
		case <-time.After(pause):
		case <-n.open.Done():
			return
		}
	}
}

// dial dials once. When the peer has heard where this side's pair is, an error is final: the peer's pair may be
// connected to it.
func (n *Node) dial(l *link) (final bool, err error) {
	d := net.Dialer{Timeout: n.greetingLimit(), KeepAliveConfig: n.keepAlive()}
	c, err := d.DialContext(n.open, "tcp", l.address)
	if err != nil {
		return false, err
	}
	conn := c.(*net.TCPConn)
	kept := false
	defer func() {
		if !kept {
			conn.Close()
		}
	}()
	address, err := l.own()
	if err != nil {
		n.end(l, unable, err.Error())
		return false, err
	}
	t := greet.Talk{Conn: conn, Secret: n.options.Secret, Carrier: carrierName}
	stop := greet.Within(n.open, conn, n.greetingLimit())
	defer stop()
	verdict, err := t.Open(greet.Hello{From: uint32(n.options.Process), To: uint32(l.peer), Purpose: forFrames}, func() []byte {
		final = true
		_ = conn.SetDeadline(time.Now().Add(n.options.Patience))
		return address
	})
	switch {
	case err != nil:
		return final, err
	case verdict[0] == crossed:
		return false, errCrossed
	case verdict[0] != welcome:
		return false, errRefused
	}
	if !stop() {
		return true, n.open.Err()
	}
	_ = conn.SetDeadline(time.Time{})
	kept, err = l.adopt(conn, queue.DecodeAddress(verdict[1:]), true)
	return true, err
}

// own returns where this side's pair is.
func (l *link) own() ([]byte, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.fate.Load() != fine {
		return nil, errRefused
	}
	if err := l.prepare(); err != nil {
		return nil, err
	}
	a := l.pair.Address()
	return a.Encode(), nil
}

// adopt makes a connection the link's, and connects the pairs. Who has dialled says so: the peer's pair is ready by then.
func (l *link) adopt(conn *net.TCPConn, to queue.Address, dialled bool) (kept bool, err error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.fate.Load() != fine || l.conn != nil {
		return false, errRefused
	}
	if err := l.pair.Connect(to); err != nil {
		l.bury(unable, err.Error())
		return false, err
	}
	l.conn = conn
	if dialled {
		if l.say(sayReady, 0) == nil { // else listen finds out
			l.rise()
		}
	}
	l.node.busy.Go(func() { l.node.listen(l, conn) })
	return true, nil
}

// answer greets who has dialled. Strangers get nothing but the end.
func (n *Node) answer(conn *net.TCPConn) {
	kept := false
	defer func() {
		if !kept {
			conn.Close()
		}
	}()
	_ = conn.SetKeepAliveConfig(n.keepAlive())
	t := greet.Talk{Conn: conn, Secret: n.options.Secret, Carrier: carrierName}
	stop := greet.Within(n.open, conn, n.greetingLimit())
	defer stop()
	h, theirs, err := t.Challenge()
	if err != nil || h.Purpose != forFrames || h.To != uint32(n.options.Process) || h.From >= uint32(len(n.links)) {
		return
	}
	l := n.links[h.From]
	if l == nil {
		return
	}
	l.lock.Lock()
	waits := l.dialling && l.hasPriority()
	l.answering = !waits // and so does not dial
	l.lock.Unlock()
	if waits {
		_ = t.Decide([]byte{crossed})
		return
	}
	defer func() {
		l.lock.Lock()
		l.answering = false
		l.lock.Unlock()
	}()
	address, err := l.own()
	if err != nil {
		_ = t.Decide([]byte{refused})
		if !errors.Is(err, errRefused) {
			n.end(l, unable, err.Error())
		}
		return
	}
	if !stop() {
		return
	}
	_ = conn.SetDeadline(time.Now().Add(n.options.Patience))
	if kept, err = l.adopt(conn, queue.DecodeAddress(theirs), false); err != nil {
		return
	}
	_ = t.Decide(append([]byte{welcome}, address...)) // listen finds out if it does not arrive
	_ = conn.SetDeadline(time.Time{})
}

func (n *Node) greetingLimit() time.Duration { return min(greet.Limit, n.options.Patience) }

// keepAlive has a peer that answers no more noticed.
func (n *Node) keepAlive() net.KeepAliveConfig {
	const probes = 5
	each := max(n.options.Patience/(probes+1), time.Second)
	return net.KeepAliveConfig{Enable: true, Idle: each, Interval: each, Count: probes}
}

// listen reads what the peer says by its connection, and ends the link with it.
func (n *Node) listen(l *link, conn *net.TCPConn) {
	defer context.AfterFunc(n.open, func() { conn.Close() })()
	for {
		var said [saySize]byte
		_, err := io.ReadFull(conn, said[:])
		number := binary.LittleEndian.Uint64(said[1:])
		switch {
		case errors.Is(err, unix.ETIMEDOUT):
			n.end(l, silent, "")
			return
		case err != nil:
			n.end(l, ended, "")
			return
		case said[0] == sayReady:
			l.lock.Lock()
			if l.fate.Load() == fine {
				l.rise()
			}
			l.lock.Unlock()
		case said[0] == sayBye:
			n.awaitLast(l, number)
			n.end(l, left, "")
			return
		default:
			n.end(l, broken, "")
			return
		}
	}
}

// awaitLast returns when so many frames of a peer have come. They are with this side's device already.
func (n *Node) awaitLast(l *link, count uint64) {
	for end := time.Now().Add(n.options.Patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		n.progress(true)
		l.lock.Lock()
		over := l.came >= count || l.wounded || l.fate.Load() != fine
		l.lock.Unlock()
		if over {
			return
		}
	}
}

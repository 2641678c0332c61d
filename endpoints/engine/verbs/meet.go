// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package verbs

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
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

// The verdicts: the first byte. Behind welcome is the begin of the digest of where the pairs of who was dialled are.
const (
	welcome = iota + 1
	crossed // both have dialled: who has the lower number goes on
	refused // the peer is gone for who was dialled
)

// Each side says in the greeting, with a proof, a digest of where its pairs are. The addresses themselves follow, those of all lanes.

// digest returns that of addresses, as long as an answer of the greeting has room for.
func digest(addresses []byte, length int) []byte {
	sum := sha256.Sum256(addresses)
	return sum[:length]
}

// theirAddresses reads where the peer's pairs are, which must have the digest.
func (l *link) theirAddresses(conn net.Conn, want []byte) ([]byte, error) {
	b := make([]byte, len(l.lanes)*queue.AddressSize)
	if _, err := io.ReadFull(conn, b); err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Time{})
	if !hmac.Equal(digest(b, len(want)), want) {
		return nil, greet.ErrStranger
	}
	return b, nil
}

// What is said by a connection after that: a byte, then a number of eight bytes.
const (
	sayReady = iota + 1 // its pairs take frames
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

// reach dials until the link is connected, or the peer is gone. When patience is over it tries once more, because this process may
// have been stopped meanwhile.
func (n *Node) reach(l *link) {
	for begin, pause := time.Now(), firstPause; ; pause = min(2*pause, longestPause) {
		last := time.Since(begin) > n.options.Patience
		final, err := n.dial(l)
		switch {
		case n.open.Err() != nil || l.isConnected() || l.fate.Load() != fine:
			return
		case errors.Is(err, unix.ECONNREFUSED) || final && errors.Is(err, io.EOF):
			n.end(l, ended, "")
		case errors.Is(err, errRefused):
			n.end(l, parted, "")
		case final || last:
			n.end(l, silent, "")
		}
		select {
		case <-time.After(pause):
		case <-n.open.Done():
			return
		}
	}
}

// dial dials once. When the peer has heard where this side's pairs are, an error is final: the peer's pairs may be
// connected to them.
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
	addresses, err := l.own()
	if err != nil {
		n.end(l, unable, err.Error())
		return false, err
	}
	t := greet.Talk{Conn: conn, Secret: n.options.Secret, Carrier: carrierName}
	stop := greet.Within(n.open, conn, n.greetingLimit())
	defer func() { stop() }()
	verdict, err := t.Open(greet.Hello{From: uint32(n.options.Process), To: uint32(l.peer), Purpose: forFrames}, func() []byte {
		final = true
		stop() // the peer knows the secret, and may need long to make its pairs
		stop = greet.Within(n.open, conn, n.options.Patience)
		return digest(addresses, greet.HalfSize)
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
		return false, n.open.Err()
	}
	_ = conn.SetDeadline(time.Now().Add(n.options.Patience))
	if _, err := conn.Write(addresses); err != nil {
		return true, err
	}
	theirs, err := l.theirAddresses(conn, verdict[1:])
	if err != nil {
		return true, err
	}
	kept, err = l.adopt(conn, theirs)
	return true, err
}

// own returns where this side's pairs are.
func (l *link) own() ([]byte, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.fate.Load() != fine {
		return nil, errRefused
	}
	if err := l.prepare(); err != nil {
		return nil, err
	}
	return l.addresses(), nil
}

// adopt makes a connection the link's, connects the pairs, and says so.
func (l *link) adopt(conn *net.TCPConn, to []byte) (kept bool, err error) {
	l.lock.Lock()
	if l.fate.Load() != fine || l.conn != nil {
		l.lock.Unlock()
		return false, errRefused
	}
	if err = l.join(to); err == nil {
		kept, l.conn = true, conn
		_ = l.say(sayReady, 0) // listen finds out if it does not arrive
		l.node.busy.Go(func() { l.node.listen(l, conn) })
	}
	l.lock.Unlock()
	if err != nil {
		l.bury(unable, err.Error())
	}
	return kept, err
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
	defer func() { stop() }()
	h, theirs, err := t.Challenge()
	if err != nil || h.Purpose != forFrames || h.To != uint32(n.options.Process) || h.From >= uint32(len(n.links)) {
		return
	}
	l := n.links[h.From]
	if l == nil {
		return
	}
	l.lock.Lock()
	waits := l.conn != nil || l.dialling && l.hasPriority() // the peer is about to hear of the connection that there is, or will be
	l.answering = !waits                                    // and so does not dial
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
	stop()
	stop = greet.Within(n.open, conn, n.options.Patience) // it takes time to make pairs, and the peer dials no second time
	addresses, err := l.own()
	if err != nil {
		_ = t.Decide([]byte{refused})
		if !errors.Is(err, errRefused) {
			n.end(l, unable, err.Error())
		}
		return
	}
	if t.Decide(append([]byte{welcome}, digest(addresses, greet.HalfSize-1)...)) != nil || !stop() {
		return
	}
	_ = conn.SetDeadline(time.Now().Add(n.options.Patience))
	if _, err := conn.Write(addresses); err != nil {
		return
	}
	if where, err := l.theirAddresses(conn, theirs); err == nil {
		kept, _ = l.adopt(conn, where)
	}
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
		n.progressAll()
		if l.came.Load() >= count || l.wounded.Load() || l.fate.Load() != fine {
			return
		}
	}
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
)

// within is the time limit of what a test waits for.
const within = time.Minute

var secret = Secret{1, 2, 3}

// listening has peers listen on the loopback.
func listening(t testing.TB, order []Peer) (peers []Peer, listeners []*net.TCPListener) {
	t.Helper()
	for _, p := range order {
		l, err := Listen("127.0.0.1:0")
		require.NoError(t, err)
		t.Cleanup(func() { l.Close() })
		p.Address = l.Addr().String()
		peers, listeners = append(peers, p), append(listeners, l)
	}
	return peers, listeners
}

// joined returns nodes of this one process that are joined as several are, of so many ranks each.
func joined(t testing.TB, o Options, ports ...int) []*Node {
	t.Helper()
	peers, first := make([]Peer, len(ports)), 0
	for i, n := range ports {
		peers[i] = Peer{First: first, Ports: n}
		first += n
	}
	return joinedAs(t, o, peers)
}

// joinedAs is joined for peers without addresses.
func joinedAs(t testing.TB, o Options, order []Peer) []*Node {
	t.Helper()
	peers, listeners := listening(t, order)
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	nodes, ends := make([]*Node, len(peers)), make(chan error)
	for i := range peers {
		o := o
		o.Peers, o.Process, o.Secret = peers, i, secret
		go func() {
			var err error
			nodes[i], err = Join(ctx, listeners[i], o)
			ends <- err
		}()
	}
	for range peers {
		require.NoError(t, <-ends)
	}
	t.Cleanup(func() { closeAll(t, nodes) })
	return nodes
}

// closeAll closes nodes, all at once: each waits for the others.
func closeAll(t testing.TB, nodes []*Node) {
	t.Helper()
	ends := make(chan error)
	for _, n := range nodes {
		go func() { ends <- n.Close() }()
	}
	for range nodes {
		if err := <-ends; !errors.Is(err, os.ErrClosed) { // by the test
			require.NoError(t, err)
		}
	}
}

// pair returns the ports of two nodes with one rank each.
func pair(t testing.TB, o Options) (a, b *Port) {
	t.Helper()
	nodes := joined(t, o, 1, 1)
	return nodes[0].port(0), nodes[1].port(1)
}

// await polls until there is something, and sleeps meanwhile, as long as it takes.
func await(t testing.TB, p *Port) *carrier.Event {
	t.Helper()
	e := new(carrier.Event)
	for end := time.Now().Add(within); time.Now().Before(end); {
		if p.Poll(e) {
			return e
		}
		since := p.Doze()
		if p.Poll(e) {
			p.Rouse()
			return e
		}
		p.Sleep(since, within)
	}
	t.Fatalf("rank %d: nothing came, or nobody woke it", p.rank)
	return nil
}

// mustSend sends when there is room.
func mustSend(t testing.TB, p *Port, to int, tag int32, buf []byte, handle uint64) carrier.Outcome {
	t.Helper()
	for end := time.Now().Add(within); ; {
		outcome, err := p.Send(to, 7, tag, buf, handle)
		require.NoError(t, err)
		if outcome != carrier.Full {
			return outcome
		}
		require.True(t, time.Now().Before(end), "no room")
		p.node.progress(true)
	}
}

// fill makes a buffer whose content its number and length tell.
func fill(buf []byte, number uint64) []byte {
	r := rand.NewPCG(number, uint64(len(buf)))
	rest := buf
	for ; len(rest) >= 8; rest = rest[8:] {
		binary.LittleEndian.PutUint64(rest, r.Uint64())
	}
	for i, word := 0, r.Uint64(); i < len(rest); i++ {
		rest[i] = byte(word >> (8 * i))
	}
	return buf
}

func filled(size, number int) []byte { return fill(make([]byte, size), uint64(number)) }

// sever breaks a link's connection: hard, so that what is on its way is lost, or with a
// proper end. It tells whether there was one.
func (l *link) sever(hard bool) bool {
	l.out.Lock()
	defer l.out.Unlock()
	if l.out.socket < 0 {
		return false
	}
	if hard {
		_ = unix.SetsockoptLinger(l.out.socket, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	}
	_ = unix.Shutdown(l.out.socket, unix.SHUT_RD)
	return true
}

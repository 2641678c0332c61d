// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"context"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
)

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
	ctx, cancel := context.WithTimeout(context.Background(), carriertest.Within)
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
	t.Cleanup(func() { carriertest.CloseAll(t, nodes) })
	return nodes
}

// pair returns the ports of two nodes with one rank each.
func pair(t testing.TB, o Options) (a, b *Port) {
	t.Helper()
	nodes := joined(t, o, 1, 1)
	return nodes[0].port(0), nodes[1].port(1)
}

// sender is a port with what moves it on.
func sender(p *Port) carriertest.Sender {
	return carriertest.Sender{Port: p, Progress: func() { p.node.progress(true) }}
}

// mustSend sends when there is room.
func mustSend(t testing.TB, p *Port, to int, tag int32, buf []byte, handle uint64) carrier.Outcome {
	t.Helper()
	return sender(p).MustSend(t, to, tag, buf, handle)
}

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

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/hydra/sockdiag"
	"github.com/tpsl/tpsl/pmi"
)

// The kernel tells the owner of a connection of ours.
func TestOwnConnection(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	peer, err := net.Dial("tcp4", listener.Addr().String())
	require.NoError(t, err)
	conn, err := listener.Accept()
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, checkOwner(conn))
	require.NoError(t, peer.(*net.TCPConn).CloseWrite())
	require.NoError(t, checkOwner(conn), "one that says no more is still there")
	peer.Close()
	require.ErrorIs(t, checkOwner(conn), sockdiag.ErrNoSocket, "a peer that is gone is nobody's")
}

// A peer that says nothing for long stays while a rank may still come, and is refused if it is in the way of others.
func TestSilentPeer(t *testing.T) {
	serve := func(change func(*port)) (peer net.Conn, warned chan string) {
		warned = make(chan string, 1)
		server := &port{
			server: pmi.NewServer(pmi.World{Size: 1}, pmi.AllRanks(1), nil, nil, nil),
			claim:  func(int) (int, error) { return 0, errors.New("it has spoken") },
			awaits: func() bool { return true },
			warn:   func(text string) { warned <- text },
			slots:  make(chan struct{}, 2),
		}
		change(server)
		server.slots <- struct{}{}
		peer, conn := net.Pipe()
		t.Cleanup(func() { peer.Close() })
		go server.serve(conn)
		return peer, warned
	}
	stays, told := serve(func(*port) {})
	_, full := serve(func(s *port) { s.slots = make(chan struct{}, 1) })
	_, scarce := serve(func(s *port) { s.scarce.Store(true) })
	_, over := serve(func(s *port) { s.awaits = func() bool { return false } })
	for _, refused := range []chan string{full, scarce, over} {
		assert.Equal(t, "refused a connection to the PMI port: the peer did not say who it is", <-refused)
	}
	time.Sleep(identifyLimit / 5)
	_, err := stays.Write([]byte("cmd=initack pmiid=0\n"))
	require.NoError(t, err)
	assert.Equal(t, "refused a connection to the PMI port: it has spoken", <-told)
}

func TestListenInRange(t *testing.T) {
	taken, err := listen("")
	require.NoError(t, err)
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	assert.True(t, taken.Addr().(*net.TCPAddr).IP.IsLoopback())

	_, err = listen(fmt.Sprintf("%d:%d", port, port))
	assert.EqualError(t, err, fmt.Sprintf("no port from %d to %d is free", port, port))

	next, err := listen(fmt.Sprintf("%d:%d", port, port+50))
	require.NoError(t, err)
	defer next.Close()
	got := next.Addr().(*net.TCPAddr).Port
	assert.True(t, port < got && got <= port+50, got)
}

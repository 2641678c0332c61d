// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/hydra/sockdiag"
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

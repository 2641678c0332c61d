// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/hydra/sockdiag"
)

// What the kernel says of a connection that is ours.
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

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"encoding/binary"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestParseOwner(t *testing.T) {
	native := binary.NativeEndian
	answer := func(kind uint16, uid, inode uint32) []byte {
		b := make([]byte, netlinkHeader+diagReply)
		native.PutUint16(b[4:], kind)
		native.PutUint32(b[netlinkHeader+64:], uid)
		native.PutUint32(b[netlinkHeader+68:], inode)
		return b
	}
	refusal := func(errno unix.Errno) []byte {
		b := answer(unix.NLMSG_ERROR, 0, 0)
		native.PutUint32(b[netlinkHeader:], uint32(-int32(errno)))
		return b
	}
	for _, tt := range []struct {
		name  string
		reply []byte
		uid   int
		err   error
	}{
		{"a user's", answer(sockDiagByFamily, 1000, 7), 1000, nil},
		{"root's", answer(sockDiagByFamily, 0, 7), 0, nil},
		{"closed: its owner is not known", answer(sockDiagByFamily, 0, 0), 0, errNoSocket},
		{"not there", refusal(unix.ENOENT), 0, errNoSocket},
		{"not told", refusal(unix.EPERM), 0, unix.EPERM},
		{"short", answer(sockDiagByFamily, 1000, 7)[:80], 0, errNoSocket},
		{"something else", answer(99, 1000, 7), 0, errNoSocket},
		{"empty", nil, 0, errNoSocket},
	} {
		t.Run(tt.name, func(t *testing.T) {
			uid, err := parseOwner(tt.reply)
			assert.ErrorIs(t, err, tt.err)
			assert.Equal(t, tt.uid, uid)
		})
	}
}

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
	require.ErrorIs(t, checkOwner(conn), errNoSocket, "a peer that is gone is nobody's")
}

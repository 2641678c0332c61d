// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// socketPair returns two ends of a socket of the kind that ranks have.
func socketPair(t *testing.T) (server *os.File, client net.Conn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	require.NoError(t, err)
	end := os.NewFile(uintptr(fds[1]), "client")
	client, err = net.FileConn(end)
	require.NoError(t, err)
	end.Close()
	t.Cleanup(func() { client.Close() })
	return os.NewFile(uintptr(fds[0]), "server"), client
}

// unread is a session whose client has a socket of the real kind, full of replies.
func unread(t *testing.T, server *Server, rank int) net.Conn {
	t.Helper()
	ours, client := socketPair(t)
	go server.Serve(rank, 0, ours)
	return client
}

// A rank that has ended cannot be answered. Its abort behind an unanswered request counts.
func TestAbortOfAnEndedRank(t *testing.T) {
	for _, request := range []string{
		"cmd=get_maxes\ncmd=get_appnum\ncmd=abort exitcode=37 message=bad input\n",
		"cmd=init pmi_version=1 pmi_subversion=1\nno command\ncmd=unknown\ncmd=abort exitcode=37 message=bad input\n",
	} {
		events := newRecord()
		server := NewServer(World{Size: 1, KVSName: testKVS}, AllRanks(1), newRoot(1), events, nil)
		ours, client := socketPair(t)
		_, err := client.Write([]byte(request))
		require.NoError(t, err)
		client.Close()
		server.Serve(0, 0, ours)
		assert.Contains(t, events.all(), `abort 0 37 "bad input"`)
		assert.NotContains(t, events.all(), "disconnected")
		server.Close()
	}
}

// A rank that does not read holds nobody up, and gets all when it reads at last.
func TestUnreadReplies(t *testing.T) {
	events := newRecord()
	server := NewServer(World{Size: 3, KVSName: testKVS}, AllRanks(3), newRoot(3), events, nil)
	t.Cleanup(server.Close)
	var clients []net.Conn
	for rank := range 3 {
		clients = append(clients, unread(t, server, rank))
	}
	_, err := clients[0].Write([]byte("cmd=barrier_in\n"))
	require.NoError(t, err)
	require.NoError(t, clients[0].SetWriteDeadline(time.Now().Add(300*time.Millisecond)))
	asked := 0
	for request := []byte("cmd=get_maxes\n"); err == nil; asked++ {
		_, err = clients[0].Write(request) // until its session waits to write, and takes no more
	}
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	for _, client := range clients[1:] {
		_, err := client.Write([]byte("cmd=barrier_in\n"))
		require.NoError(t, err)
	}
	for _, client := range clients[1:] {
		require.NoError(t, client.SetReadDeadline(time.Now().Add(patience)))
		reply := make([]byte, 100)
		n, err := client.Read(reply)
		require.NoError(t, err)
		assert.Equal(t, "cmd=barrier_out\n", string(reply[:n]))
	}
	var text strings.Builder
	require.NoError(t, clients[0].SetReadDeadline(time.Now().Add(patience)))
	for b := make([]byte, 64<<10); strings.Count(text.String(), "cmd=maxes") < asked-1; {
		n, err := clients[0].Read(b)
		require.NoError(t, err)
		text.Write(b[:n])
	}
	assert.Equal(t, 1, strings.Count(text.String(), "cmd=barrier_out"))
	assert.Empty(t, events.all())
}

// One that goes on entering barriers and reads nothing of them is ended, with a line; the others go on.
func TestUnreadRepliesWithoutEnd(t *testing.T) {
	events := newRecord()
	server := NewServer(World{Size: 3, KVSName: testKVS}, AllRanks(3), newRoot(3), events, nil)
	t.Cleanup(server.Close)
	deaf, partner, other := unread(t, server, 0), unread(t, server, 1), unread(t, server, 2)
	go func() {
		const enter = "cmd=barrier_in group=0,1:t\n"
		for reply := make([]byte, 100); ; { // in step, as it may not be in too many at once
			_, err := deaf.Write([]byte(enter))
			_, err2 := partner.Write([]byte(enter))
			_, err3 := partner.Read(reply)
			if errors.Join(err, err2, err3) != nil {
				return
			}
		}
	}()
	events.await(t, "warning 0 does not read what its PMI requests are answered; 65536 bytes wait, so its connection is closed")
	assert.Equal(t, "cmd=my_kvsname kvsname="+testKVS, ask(t, other, "cmd=get_my_kvsname"))
}

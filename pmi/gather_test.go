// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"fmt"
	"log/slog"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Ranks put, wait and read each other's values, several times over.
func TestClientsExchange(t *testing.T) {
	const ranks, rounds = 8, 5
	events, conns := serve(t, ranks)
	var clients sync.WaitGroup
	for rank, conn := range conns {
		clients.Go(func() { exchange(t, conn, rank, ranks, rounds) })
	}
	clients.Wait()
	for rank := range ranks {
		events.await(t, fmt.Sprintf("finalize %d", rank))
	}
}

func exchange(t *testing.T, conn net.Conn, rank, ranks, rounds int) {
	c := NewClient(conn)
	if !assert.NoError(t, c.Init()) {
		return
	}
	appnum, err := c.Appnum()
	assert.NoError(t, err)
	assert.Equal(t, rank%2, appnum)
	for round := range rounds {
		assert.NoError(t, c.Put(fmt.Sprintf("k-%d-%d", round, rank), fmt.Sprintf("value %d of %d", round, rank)))
		assert.NoError(t, c.Barrier())
		peer := (rank + 1) % ranks
		value, err := c.Get(fmt.Sprintf("k-%d-%d", round, peer))
		assert.NoError(t, err)
		assert.Equal(t, fmt.Sprintf("value %d of %d", round, peer), value)
	}
	_, err = c.Get("absent")
	var refused *ReplyError
	assert.ErrorAs(t, err, &refused)
	assert.NoError(t, c.Finalize())
}

// Ranks of two hosts see each other's puts after a barrier, and not before.
func TestTwoHosts(t *testing.T) {
	root := NewRoot(2)
	var clients [2]*Client
	for host := range clients {
		ours, theirs := net.Pipe()
		t.Cleanup(func() { ours.Close() })
		server := NewServer(World{Size: 2, KVSName: testKVS}, 1, root, newRecord(), slog.New(slog.DiscardHandler))
		go server.Serve(host, 0, theirs)
		clients[host] = NewClient(ours)
		require.NoError(t, clients[host].Init())
		require.NoError(t, clients[host].Put(fmt.Sprint("k", host), fmt.Sprint("v", host)))
	}
	_, err := clients[0].Get("k1")
	require.Error(t, err)
	other := make(chan error)
	go func() { other <- clients[1].Barrier() }()
	require.NoError(t, clients[0].Barrier())
	require.NoError(t, <-other)
	for host, c := range clients {
		value, err := c.Get(fmt.Sprint("k", 1-host))
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprint("v", 1-host), value)
	}
}

func TestClientNames(t *testing.T) {
	_, conns := serve(t, 1)
	c := NewClient(conns[0])
	require.NoError(t, c.Init())
	require.NoError(t, c.Publish("svc", "port"))
	require.Error(t, c.Publish("svc", "port"))
	port, err := c.Lookup("svc")
	require.NoError(t, err)
	assert.Equal(t, "port", port)
	require.NoError(t, c.Unpublish("svc"))
	_, err = c.Lookup("svc")
	require.Error(t, err)
	require.Error(t, c.Put("k", "two\nlines"), "a request is one line")
}

// Hosts of different sizes below two inner nodes below a root: everybody gets everybody's puts, in every round.
func TestGatherTree(t *testing.T) {
	root := NewGather(7, nil)
	inner := NewGather(4, root)
	leaves := []Exchanger{inner, inner, root}
	counts := []int{1, 3, 3}
	for round := range 3 {
		var leavers sync.WaitGroup
		for i, leaf := range leaves {
			leavers.Go(func() {
				union, err := leaf.Exchange(counts[i], []Entry{{"kvs", fmt.Sprint(i), fmt.Sprint(round)}})
				assert.NoError(t, err)
				assert.Len(t, union, len(leaves))
			})
		}
		leavers.Wait()
	}
	_, err := root.Exchange(8, nil)
	assert.Error(t, err, "more ranks than the world has")
}

func TestGatherClose(t *testing.T) {
	root := NewGather(2, nil)
	failed := make(chan error)
	go func() {
		_, err := root.Exchange(1, nil)
		failed <- err
	}()
	root.Close()
	assert.ErrorIs(t, <-failed, ErrClosed)
	_, err := root.Exchange(1, nil)
	assert.ErrorIs(t, err, ErrClosed)
}

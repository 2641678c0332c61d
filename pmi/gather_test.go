// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"fmt"
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
	conns := serveHosts(t, Ranks{0}, Ranks{1})
	var clients [2]*Client
	for rank := range clients {
		clients[rank] = NewClient(conns[rank])
		require.NoError(t, clients[rank].Init())
		require.NoError(t, clients[rank].Put(fmt.Sprint("k", rank), fmt.Sprint("v", rank)))
	}
	_, err := clients[0].Get("k1")
	require.Error(t, err)
	other := make(chan error)
	go func() { other <- clients[1].Barrier() }()
	require.NoError(t, clients[0].Barrier())
	require.NoError(t, <-other)
	for rank, c := range clients {
		value, err := c.Get(fmt.Sprint("k", 1-rank))
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprint("v", 1-rank), value)
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

// meet enters a barrier and waits for it.
func meet(e Exchanger, barrier string, count int, puts ...Entry) ([]Entry, error) {
	type result struct {
		union []Entry
		err   error
	}
	left := make(chan result, 1)
	e.Enter(Arrival{barrier, count, puts}, func(union []Entry, err error) { left <- result{union, err} })
	r := <-left
	return r.union, r.err
}

// Hosts of different sizes below two inner nodes below a root: everybody gets everybody's puts, in every round.
func TestGatherTree(t *testing.T) {
	root := NewGather(7, AllRanks(7), nil)
	inner := NewGather(7, Ranks{0, 1, 2, 3}, root)
	leaves := []Exchanger{inner, inner, root}
	counts := []int{1, 3, 3}
	for round := range 3 {
		var leavers sync.WaitGroup
		for i, leaf := range leaves {
			leavers.Go(func() {
				union, err := meet(leaf, worldBarrier, counts[i], Entry{"kvs", fmt.Sprint(i), fmt.Sprint(round)})
				assert.NoError(t, err)
				assert.Len(t, union, len(leaves))
			})
		}
		leavers.Wait()
	}
	for _, row := range []struct {
		barrier string
		count   int
	}{{worldBarrier, 8}, {worldBarrier, 0}, {"8,9:0", 1}, {"nobody:0", 1}, {"", 1}} {
		_, err := meet(root, row.barrier, row.count)
		assert.Error(t, err, row)
	}
	assert.Empty(t, root.rounds, "barriers that nobody may enter leave nothing")
}

// A barrier completes at the lowest node that all its ranks are below.
func TestGatherGroups(t *testing.T) {
	root := NewGather(4, AllRanks(4), nil)
	left, right := NewGather(4, Ranks{0, 1}, root), NewGather(4, Ranks{2, 3}, root)
	for _, barrier := range []string{"0,1:5", "NODE:1", "1,0,1:5"} {
		root.Close() // nothing of it may reach the root
		other := make(chan error, 1)
		left.Enter(Arrival{barrier, 1, nil}, func(_ []Entry, err error) { other <- err })
		_, err := meet(left, barrier, 1)
		require.NoError(t, err, barrier)
		require.NoError(t, <-other, barrier)
	}
	_, err := meet(right, "3:5", 1)
	require.NoError(t, err, "a group of one")
	_, err = meet(right, "1,3:5", 1)
	require.ErrorIs(t, err, ErrClosed)
}

func TestGatherClose(t *testing.T) {
	root := NewGather(2, AllRanks(2), nil)
	failed := make(chan error, 1)
	root.Enter(Arrival{worldBarrier, 1, nil}, func(_ []Entry, err error) { failed <- err })
	root.Close()
	assert.ErrorIs(t, <-failed, ErrClosed)
	_, err := meet(root, worldBarrier, 1)
	assert.ErrorIs(t, err, ErrClosed)
}

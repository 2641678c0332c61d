// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
	"github.com/tpsl/tpsl/endpoints/engine/greet"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// dialled returns a connection to a node.
func dialled(t *testing.T, n *Node) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", n.listeners[0].Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(carriertest.Within))
	return c
}

// isDropped waits for the end of a connection, and returns what came before.
func isDropped(t *testing.T, c net.Conn) []byte {
	t.Helper()
	b, err := io.ReadAll(c)
	if err != nil {
		require.ErrorContains(t, err, "reset", "not before the limit")
	}
	return b
}

// challenge says hello, and returns the challenge.
func challenge(t *testing.T, c net.Conn, hello []byte) []byte {
	t.Helper()
	_, err := c.Write(hello)
	require.NoError(t, err)
	note := make([]byte, greet.NoteSize)
	_, err = io.ReadFull(c, note)
	require.NoError(t, err)
	return note
}

// Strangers, garbage and half a greeting are dropped without an answer that would help them, and
// harm nobody.
func TestStrangers(t *testing.T) {
	testsupport.NothingLeft(t)
	nodes := joined(t, Options{}, 1, 1)
	a, b := nodes[0].port(0), nodes[1].port(1)
	good := greet.Hello{From: 0, To: 1, Purpose: forFrames, Number: 1}
	works := func() {
		mustSend(t, a, 1, 3, nil, 0)
		assert.EqualValues(t, 3, carriertest.Await(t, b).Cell.Tag)
	}
	t.Run("garbage", func(t *testing.T) {
		c := dialled(t, b.node)
		_, _ = c.Write(make([]byte, 1000))
		assert.Empty(t, isDropped(t, c))
		works()
	})
	t.Run("half a greeting", func(t *testing.T) {
		c := dialled(t, b.node)
		_, _ = c.Write(good.Encode(carrierName)[:30])
		works()
		c.Close()
		works()
	})
	t.Run("silent", func(t *testing.T) {
		dialled(t, b.node)
		works()
	})
	t.Run("another version", func(t *testing.T) {
		c := dialled(t, b.node)
		h := good.Encode(carrierName)
		h[8] = 9
		_, _ = c.Write(h)
		assert.Empty(t, isDropped(t, c))
	})
	t.Run("who does not know the secret", func(t *testing.T) {
		stranger := newTalk(dialled(t, b.node), Secret{9})
		_, _, err := stranger.open(good, func() uint64 { return 0 })
		require.ErrorIs(t, err, greet.ErrStranger, "nor does he learn it")
		works()
		c := dialled(t, b.node)
		challenge(t, c, good.Encode(carrierName))
		_, err = c.Write(make([]byte, greet.NoteSize))
		require.NoError(t, err)
		assert.Empty(t, isDropped(t, c))
		works()
	})
	t.Run("a proof sent back", func(t *testing.T) {
		c := dialled(t, b.node)
		_, err := c.Write(challenge(t, c, good.Encode(carrierName)))
		require.NoError(t, err)
		assert.Empty(t, isDropped(t, c))
		works()
	})
	for name, h := range map[string]greet.Hello{
		"itself":            {From: 1, To: 1, Purpose: forFrames},
		"for another":       {From: 0, To: 0, Purpose: forFrames},
		"no such process":   {From: 7, To: 1, Purpose: forFrames},
		"who has to wait":   {From: 1, To: 0, Purpose: forFrames},
		"for nothing known": {From: 0, To: 1, Purpose: 7},
	} {
		t.Run(name, func(t *testing.T) {
			n := b.node
			if h.From == 1 && h.To == 0 {
				n = a.node
			}
			friend := newTalk(dialled(t, n), secret)
			_, _, err := friend.open(h, func() uint64 { return 0 })
			require.Error(t, err)
			works()
		})
	}
	t.Run("very many", func(t *testing.T) {
		for range 3 * greet.MaxStrangers {
			dialled(t, b.node)
		}
		works()
	})
	connections := nodes[1].links[0].connections
	assert.EqualValues(t, 1, connections, "nobody has disturbed it")
	assert.Equal(t, carrier.Done, mustSend(t, a, 1, 0, nil, 0))
}

// Who does not come is named; a secret that differs is as good as not coming.
func TestAbsent(t *testing.T) {
	testsupport.NothingLeft(t)
	peers, listeners := listening(t, []Peer{{First: 0, Ports: 2}, {First: 2, Ports: 2}})
	for _, process := range []int{0, 1} {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		l, err := Listen("127.0.0.1:0")
		require.NoError(t, err)
		own := append([]Peer(nil), peers...)
		own[process].Address = l.Addr().String()
		_, err = Join(ctx, l, Options{Peers: own, Process: process, Secret: secret, AtStart: true})
		other := own[1-process]
		assert.EqualError(t, err, "join a node: rank "+string(rune('0'+other.First))+" did not come in time: its process listens at "+other.Address)
		cancel()
	}
	listeners[1].Close()
	l, err := Listen("127.0.0.1:0")
	require.NoError(t, err)
	_, err = Join(context.Background(), l, Options{Peers: peers, Secret: secret, AtStart: true})
	assert.EqualError(t, err, "join a node: rank 2 is gone: its process has ended: nobody listens at "+peers[1].Address+" any more")
}

func TestRefusedOptions(t *testing.T) {
	one := []Peer{{Ports: 1}}
	for want, o := range map[string]Options{
		"process 1 of 1":                  {Peers: one, Process: 1},
		"messages of 65537 bytes":         {Peers: one, Eager: 65537},
		"a window of 1000 bytes":          {Peers: one, Window: 1000},
		"idle for 1µs":                    {Peers: one, Idle: time.Microsecond},
		"2 bells for 1 ports":             {Peers: one, Bells: make([]*carrier.Bell, 2)},
		"a process of 0 ranks":            {Peers: []Peer{{}}},
		"a process of 1 ranks from -1 on": {Peers: []Peer{{First: -1, Ports: 1}}},
		"two processes have rank 0":       {Peers: append(one, one...)},
	} {
		l, err := Listen("127.0.0.1:0")
		require.NoError(t, err)
		_, err = Join(context.Background(), l, o)
		require.ErrorContains(t, err, want)
	}
	_, err := Listen("nowhere at all")
	assert.ErrorContains(t, err, "listen for peers")
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"bytes"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// die ends a node as the end of its process does: nobody listens, connections are reset.
func (n *Node) die() {
	n.closed.Store(true)
	n.close()
	n.listeners[0].Close()
	for _, l := range n.links {
		if l != nil {
			l.in.Lock()
			l.out.Lock()
			if l.out.socket >= 0 {
				_ = unix.SetsockoptLinger(l.out.socket, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
			}
			l.bury(left)
			l.out.Unlock()
			l.in.Unlock()
		}
	}
	n.quit()
}

// isGone looks at an error of what was under way with a rank.
func isGone(t *testing.T, err error, why string) {
	t.Helper()
	require.ErrorIs(t, err, carrier.ErrPeerGone)
	require.Regexp(t, why, err.Error())
}

// mourn awaits that rank 1 is gone, and returns what came before.
func mourn(t *testing.T, a *Port, why string) (before []*carrier.Event) {
	t.Helper()
	for {
		e := await(t, a)
		if e.Kind == carrier.Gone {
			require.Equal(t, []int{1, 1}, []int{e.First, e.Ranks})
			break
		}
		before = append(before, e)
	}
	assert.True(t, a.Gone(1))
	isGone(t, a.node.Gone(1), why)
	for _, size := range []int{0, 1000, 1 << 20} {
		_, err := a.Send(1, 0, 0, make([]byte, size), 0)
		isGone(t, err, why)
	}
	assert.False(t, a.Poll(new(carrier.Event)))
	return before
}

// What a peer that has ended had sent is delivered; what was under way with it ends with an error
// that names it; others go on. It is the same whoever had made the connection.
func TestEnded(t *testing.T) {
	testsupport.NothingLeft(t)
	const why = `^rank 1 is gone: its process has ended: nobody listens at 127\.0\.0\.1:\d+ any more$`
	for _, order := range [][]Peer{{{First: 0, Ports: 1}, {First: 1, Ports: 1}, {First: 2, Ports: 1}}, {{First: 1, Ports: 1}, {First: 0, Ports: 1}, {First: 2, Ports: 1}}} {
		nodes := joinedAs(t, Options{}, order)
		port := func(rank int) *Port {
			for i, p := range order {
				if p.First == rank {
					return nodes[i].port(rank)
				}
			}
			return nil
		}
		a, b, c := port(0), port(1), port(2)
		mustSend(t, b, 0, 5, []byte("last words"), 0)
		mustSend(t, b, 0, 6, make([]byte, 1<<20), 0)
		words, offer := await(t, a), await(t, a)
		outcome := mustSend(t, a, 1, 0, make([]byte, 1<<20), 7)
		require.Equal(t, carrier.Pending, outcome)
		mustSend(t, a, 1, 0, []byte("to nobody"), 0)
		b.node.die()
		before := mourn(t, a, why)
		require.Len(t, before, 1)
		assert.Equal(t, []any{carrier.Sent, true, uint64(7)}, []any{before[0].Kind, before[0].Lost, before[0].Handle})
		dst := make([]byte, 10)
		done, err := a.Fetch(&words.Cell, dst, 0)
		require.NoError(t, err)
		assert.True(t, done)
		assert.Equal(t, "last words", string(dst))
		done, err = a.Fetch(&offer.Cell, make([]byte, 1<<20), 0)
		assert.True(t, done)
		isGone(t, err, why)
		mustSend(t, c, 0, 8, nil, 0)
		assert.EqualValues(t, 8, await(t, a).Cell.Tag)
		closeAll(t, nodes)
	}
}

// A receive that has come in part ends when its sender does.
func TestEndedAmidst(t *testing.T) {
	nodes := joined(t, Options{}, 1, 1)
	a, b := nodes[0].port(0), nodes[1].port(1)
	require.Equal(t, carrier.Pending, mustSend(t, b, 0, 0, make([]byte, 64<<20), 0))
	offer := await(t, a)
	done, err := a.Fetch(&offer.Cell, make([]byte, 64<<20), 9)
	require.NoError(t, err)
	require.False(t, done)
	l := a.node.links[1]
	for came := uint64(0); came < 1<<20; {
		b.node.progress(true)
		a.node.progress(true)
		l.in.Lock()
		came = l.in.received
		l.in.Unlock()
	}
	b.node.die()
	before := mourn(t, a, "its process has ended")
	require.Len(t, before, 1)
	assert.Equal(t, []any{carrier.Received, true, uint64(9)}, []any{before[0].Kind, before[0].Lost, before[0].Handle})
}

// A peer that leaves is gone, and all that it had sent has come; also if nobody looks before it has left.
func TestLeft(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, o := range []struct{ late, atStart bool }{{false, false}, {true, false}, {true, true}} {
		nodes := joined(t, Options{Window: 8 << 20, AtStart: o.atStart}, 1, 1)
		a, b := nodes[0].port(0), nodes[1].port(1)
		const count = 90 // more than the receiver's kernel takes before somebody reads
		for i := range count {
			require.Equal(t, carrier.Done, mustSend(t, b, 0, int32(i), filled(10_000, i), 0))
		}
		closed := make(chan error, 1)
		go func() { closed <- b.node.Close() }()
		if o.late {
			require.NoError(t, <-closed)
			closed <- nil
		}
		dst := make([]byte, 10_000)
		before := mourn(t, a, "^rank 1 is gone: its process has closed its node$")
		require.Len(t, before, count)
		for i, e := range before {
			_, err := a.Fetch(&e.Cell, dst, 0)
			require.NoError(t, err)
			require.True(t, bytes.Equal(dst, filled(10_000, i)))
		}
		require.NoError(t, <-closed)
		require.NoError(t, a.node.Close())
		assert.ErrorIs(t, a.node.Close(), os.ErrClosed)
	}
}

// A peer that answers no more is gone after a while, and its rank is named.
func TestSilent(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, silent := range []int{0, 1} { // the one that dials, and the one that is dialled
		nodes := joined(t, Options{Patience: 500 * time.Millisecond, AtStart: true}, 1, 1)
		n, other := nodes[silent], nodes[1-silent]
		address := n.listeners[0].Addr().String()
		n.die()
		deaf, err := net.Listen("tcp", address) // takes connections, and says nothing
		require.NoError(t, err)
		begin := time.Now()
		p := other.ports[0]
		for e := await(t, p); e.Kind != carrier.Gone; e = await(t, p) {
		}
		isGone(t, other.Gone(silent), "could not be reached at "+address+" for too long")
		assert.Less(t, time.Since(begin), within/2)
		deaf.Close()
		require.NoError(t, other.Close())
	}
}

// Who is held for gone hears so when he comes back.
func TestParted(t *testing.T) {
	nodes := joined(t, Options{AtStart: true}, 1, 1)
	a, b := nodes[0].port(0), nodes[1].port(1)
	l := b.node.links[0]
	l.lose(silent)
	for e := await(t, a); e.Kind != carrier.Gone; e = await(t, a) {
	}
	isGone(t, a.node.Gone(1), "holds this one for gone")
}

// A port that is asleep, with the peer that ends, is woken.
func TestEndWakes(t *testing.T) {
	nodes := joined(t, Options{AtStart: true}, 1, 1)
	woken := make(chan *carrier.Event)
	go func() { woken <- await(t, nodes[0].port(0)) }()
	for !nodes[0].port(0).Bell().IsAsleep() {
		time.Sleep(time.Millisecond)
	}
	nodes[1].die()
	assert.Equal(t, carrier.Gone, (<-woken).Kind)
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
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
	n.free()
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
		carriertest.Ended(t, port(0).node, sender(port(0)), sender(port(1)), sender(port(2)), port(1).node.die, why)
		carriertest.CloseAll(t, nodes)
	}
}

// A receive that has come in part ends when its sender does.
func TestEndedAmidst(t *testing.T) {
	nodes := joined(t, Options{}, 1, 1)
	a, b := nodes[0].port(0), nodes[1].port(1)
	require.Equal(t, carrier.Pending, mustSend(t, b, 0, 0, make([]byte, 64<<20), 0))
	offer := carriertest.Await(t, a)
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
	before := carriertest.Mourn(t, a.node, a, "its process has ended")
	require.Len(t, before, 1)
	carriertest.IsLost(t, before[0], carrier.Received, 9)
}

// A peer that leaves is gone, and all that it had sent has come; also if nobody looks before it has left.
func TestLeft(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, o := range []struct{ late, atStart bool }{{false, false}, {true, false}, {true, true}} {
		nodes := joined(t, Options{Window: 8 << 20, AtStart: o.atStart}, 1, 1)
		// These are more than the receiver's kernel takes before somebody reads.
		carriertest.Left(t, nodes[0], nodes[1], sender(nodes[1].port(1)), o.late, 90, 10_000)
	}
}

// A peer that answers no more is gone after a while, and its rank is named.
func TestSilent(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, silent := range []int{0, 1} { // the one that dials, and the one that is dialled
		nodes := joined(t, Options{Patience: 500 * time.Millisecond, AtStart: true}, 1, 1)
		n, other := nodes[silent], nodes[1-silent]
		address := n.listeners[0].Addr().String()
		deaf, err := n.listeners[0].File() // the kernel takes connections, and nobody says anything
		require.NoError(t, err)
		n.die()
		begin := time.Now()
		p := other.ports[0]
		for e := carriertest.Await(t, p); e.Kind != carrier.Gone; e = carriertest.Await(t, p) {
		}
		carriertest.IsGone(t, other.Gone(silent), "could not be reached at "+address+" for too long")
		assert.Less(t, time.Since(begin), carriertest.Within/2)
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
	for e := carriertest.Await(t, a); e.Kind != carrier.Gone; e = carriertest.Await(t, a) {
	}
	carriertest.IsGone(t, a.node.Gone(1), "holds this one for gone")
}

// A port that is asleep, with the peer that ends, is woken.
func TestEndWakes(t *testing.T) {
	nodes := joined(t, Options{AtStart: true}, 1, 1)
	woken := make(chan *carrier.Event)
	go func() { woken <- carriertest.Await(t, nodes[0].port(0)) }()
	for !nodes[0].port(0).Bell().IsAsleep() {
		time.Sleep(time.Millisecond)
	}
	nodes[1].die()
	assert.Equal(t, carrier.Gone, (<-woken).Kind)
}

// A thread that is in a call when a lasting node closes does not write to files that have got numbers of descriptors since.
func TestLastingKeepsDescriptors(t *testing.T) {
	nodes := joined(t, Options{Lasting: true}, 1, 1)
	for _, n := range nodes {
		require.NoError(t, n.Close())
		t.Cleanup(n.free)
	}
	var files []*os.File // more than the nodes had descriptors
	for range 16 {
		f, err := os.CreateTemp(t.TempDir(), "")
		require.NoError(t, err)
		t.Cleanup(func() { f.Close() })
		files = append(files, f)
	}
	p := nodes[0].port(0)
	p.Sleep(p.Doze(), time.Millisecond)
	for _, f := range files {
		written, err := f.Stat()
		require.NoError(t, err)
		assert.Zero(t, written.Size())
	}
}

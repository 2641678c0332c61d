// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// At each of these points a child of rank 1 stops, and is killed there. Rank 0, of the
// test's process, is its peer; rank 2, also here, looks on.
func init() {
	at := func(name string, reach func(p *Port)) {
		Roles[name] = func(n *Node, _ []string, out func(string, ...any)) {
			reach(n.port(1))
			stopped(out)
		}
	}
	at("joined", func(*Port) {})
	at("claimed", func(p *Port) { // a ticket taken, the cell never published
		_, _ = p.Send(0, 7, 1, []byte("before"), 0)
		p.node.track(place{}).Claim()
		_, _ = p.Send(0, 7, 2, []byte("after"), 0)
	})
	at("filled", func(p *Port) { // the same with a packet
		number, memory := p.packets.takeMessage(0)
		copy(memory, "half a message")
		c, _ := p.node.track(place{}).Claim()
		c.Kind, c.Length, c.Inline[0] = carrier.Kept, 100, byte(number)
	})
	at("offered", func(p *Port) { _, _ = p.Send(0, 7, 1, carriertest.Filled(1<<20, 1), 0) })
	at("streaming", func(p *Port) { // asked for parts, some of which it has sent
		_, _ = p.Send(0, 7, 1, carriertest.Filled(1<<20, 1), 0)
		for len(p.streams) == 0 {
			p.Poll(new(carrier.Event))
		}
		p.flush()
	})
	at("offered-to", func(p *Port) { // a message seen and not fetched
		for e := new(carrier.Event); !p.Poll(e) || e.Kind != carrier.Arrived; {
		}
	})
	at("streamed-to", func(p *Port) { // asked for parts, none of which it takes
		for e := new(carrier.Event); ; {
			if p.Poll(e) && e.Kind == carrier.Arrived {
				_, _ = p.Fetch(&e.Cell, make([]byte, carrier.Bytes(&e.Cell)), 0)
				return
			}
		}
	})
	at("ringing", func(p *Port) { // the bell's word changed, its sleeper not woken
		b := p.node.peers[0].bells[0]
		for !b.IsAsleep() {
		}
		b.Strike()
	})
	Roles["asleep"] = func(n *Node, _ []string, out func(string, ...any)) {
		p := n.port(1)
		since := p.Doze()
		out("stops")
		p.Sleep(since, 0)
	}
}

// doomed starts a child that stops at a point, and returns the test's two ports and a
// function that kills the child there.
func doomed(t *testing.T, point string, o Options) (a, c *Port, kill func()) {
	testsupport.NothingLeft(t)
	nodes, children := Together(t, o, "", point, "")
	return nodes[0].port(0), nodes[2].port(2), func() {
		require.Equal(t, "stops", children[1].Line())
		children[1].Kill()
	}
}

const whyGone = `^rank 1 is gone: its process \d+ has ended$`

// mourn awaits that rank 1 is gone, and that nothing of it is left. What comes before is
// returned.
func mourn(t *testing.T, a, c *Port) (before []*carrier.Event) {
	t.Helper()
	for _, p := range []*Port{a, c} {
		came := carriertest.Mourn(t, p.node, p, whyGone)
		require.True(t, p == a || len(came) == 0, "the onlooker gets nothing else")
		before = append(before, came...)
		assert.Empty(t, p.outbox)
		assert.Empty(t, p.streams)
		p.sends.Used(func(uint64, *send) { t.Error("a send that never ends") })
		p.receives.Used(func(uint64, *receive) { t.Error("a receive that never ends") })
		p.packets.collect()
		assert.Zero(t, p.packets.out, "packets that nobody gives back")
	}
	for i, size := range sizes { // the others go on
		buf := carriertest.Filled(size, i)
		outcome, err := c.Send(0, 7, 0, buf, 9)
		require.NoError(t, err)
		m := carriertest.Await(t, a)
		carriertest.Take(t, c, a, &m.Cell, size, outcome, buf, 9)
	}
	return before
}

// In whatever a peer is when it dies: what it had sent comes, the rest is an error, and
// nothing hangs, here for those who sleep meanwhile.
func TestKilled(t *testing.T) {
	t.Run("joined", func(t *testing.T) {
		a, c, kill := doomed(t, "joined", Options{})
		time.AfterFunc(100*time.Millisecond, kill) // both sleep by then
		assert.Empty(t, mourn(t, a, c))
	})
	t.Run("claimed", func(t *testing.T) {
		a, c, kill := doomed(t, "claimed", Options{})
		kill()
		before := mourn(t, a, c)
		require.Len(t, before, 1, "what was published before the hole")
		assert.Equal(t, "before", string(before[0].Cell.Inline[:before[0].Cell.Length]))
	})
	t.Run("filled", func(t *testing.T) {
		a, c, kill := doomed(t, "filled", Options{})
		kill()
		assert.Empty(t, mourn(t, a, c))
	})
	for _, streams := range []bool{false, true} {
		t.Run("offered", func(t *testing.T) {
			a, c, kill := doomed(t, "offered", Options{Streams: streams})
			offer := carriertest.Await(t, a)
			kill()
			_ = mourn(t, a, c)
			_, err := a.Fetch(&offer.Cell, make([]byte, 1<<20), 0)
			carriertest.IsGone(t, err, whyGone)
		})
		t.Run("offered, fetched at once", func(t *testing.T) {
			a, c, kill := doomed(t, "offered", Options{Streams: streams})
			kill()
			offer := carriertest.Await(t, a)
			require.Equal(t, carrier.Arrived, offer.Kind)
			for a.node.peers[1].fate.Load() == fine { // until the watch has seen it,
				time.Sleep(time.Millisecond)
			}
			a.node.peers[1].fate.Store(fine) // which may come later than who reads
			done, err := a.Fetch(&offer.Cell, make([]byte, 1<<20), 5)
			a.node.condemn(1, ended)
			if done {
				carriertest.IsGone(t, err, whyGone)
				assert.Empty(t, mourn(t, a, c))
				return
			}
			before := mourn(t, a, c) // a request for parts that went to the dead
			require.Len(t, before, 1)
			carriertest.IsLost(t, before[0], carrier.Received, 5)
		})
	}
	t.Run("streaming", func(t *testing.T) {
		a, c, kill := doomed(t, "streaming", Options{Streams: true})
		offer := carriertest.Await(t, a)
		buf := make([]byte, 1<<20)
		done, err := a.Fetch(&offer.Cell, buf, 6)
		require.NoError(t, err)
		require.False(t, done)
		kill()
		before := mourn(t, a, c)
		require.Len(t, before, 1)
		carriertest.IsLost(t, before[0], carrier.Received, 6)
		assert.Equal(t, carriertest.Filled(1<<20, 1)[:16<<10], buf[:16<<10], "a part had come")
	})
	for _, point := range []string{"offered-to", "streamed-to"} {
		t.Run(point, func(t *testing.T) {
			a, c, kill := doomed(t, point, Options{Streams: true})
			outcome := mustSend(t, a, 1, 0, make([]byte, 1<<20), 8)
			require.Equal(t, carrier.Pending, outcome)
			for end := time.Now().Add(carriertest.Within); point == "streamed-to" && a.packets.out == 0; {
				require.False(t, a.Poll(new(carrier.Event)))
				require.True(t, time.Now().Before(end))
			}
			kill()
			before := mourn(t, a, c)
			require.Len(t, before, 1)
			carriertest.IsLost(t, before[0], carrier.Sent, 8)
		})
	}
	t.Run("asleep", func(t *testing.T) {
		a, c, kill := doomed(t, "asleep", Options{})
		kill()
		assert.Empty(t, mourn(t, a, c))
	})
	t.Run("full", func(t *testing.T) {
		a, c, kill := doomed(t, "joined", Options{Cells: 4})
		for range 4 {
			mustSend(t, a, 1, 0, make([]byte, 100), 0)
		}
		a.answer(control{place: place{process: 1}, kind: cellDone})
		require.Len(t, a.outbox, 1)
		time.AfterFunc(50*time.Millisecond, kill)
		assert.Empty(t, mourn(t, a, c))
	})
}

// Who rang half way and then stopped, or died, has taken nobody's wake-up: neither that
// of the next who rings, nor that of its own end.
func TestKilledWhileRinging(t *testing.T) {
	a, c, kill := doomed(t, "ringing", Options{})
	woken := make(chan struct{})
	go func() {
		a.Sleep(a.Doze(), 0)
		close(woken)
	}()
	for a.bell.Rings() == 0 { // it has rung half way
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond)
	mustSend(t, c, 0, 1, nil, 0)
	select {
	case <-woken:
	case <-time.After(carriertest.Within):
		t.Fatal("asleep for ever")
	}
	assert.Equal(t, carrier.Arrived, carriertest.Await(t, a).Kind)
	kill()
	assert.Empty(t, mourn(t, a, c))
}

// A peer that writes nonsense is cut off, by name, and the others go on.
func TestCutOff(t *testing.T) {
	nodes := joined(t, Options{Ports: 1, Total: 3}, Options{First: 1, Ports: 1, Total: 3}, Options{First: 2, Ports: 1, Total: 3})
	a, b, c := nodes[0].port(0), nodes[1].port(1), nodes[2].port(2)
	mustSend(t, b, 0, 5, []byte("good"), 0)
	track := nodes[1].track(place{})
	cell, turn := track.Claim()
	cell.Kind, cell.Source, cell.Length = carrier.Inline, 1, ring.Inline+1
	cell.Publish(turn)
	mustSend(t, b, 0, 6, []byte("too late"), 0)
	assert.EqualValues(t, 5, carriertest.Await(t, a).Cell.Tag)
	assert.Equal(t, carrier.Gone, carriertest.Await(t, a).Kind)
	assert.False(t, a.Poll(new(carrier.Event)))
	_, err := a.Send(1, 0, 0, nil, 0)
	assert.ErrorIs(t, err, carrier.ErrPeerGone)
	assert.ErrorContains(t, err, "rank 1 is gone: what its process")
	mustSend(t, c, 0, 7, nil, 0)
	assert.EqualValues(t, 7, carriertest.Await(t, a).Cell.Tag)
}

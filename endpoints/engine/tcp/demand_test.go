// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// established returns the sockets, by inode, that the kernel has for connections to these nodes: those
// of both ends.
func established(t testing.TB, nodes []*Node) map[string]bool {
	t.Helper()
	ports := map[string]bool{}
	for _, n := range nodes {
		ports[fmt.Sprintf("%04X", n.listeners[0].Addr().(*net.TCPAddr).Port)] = true
	}
	table, err := os.ReadFile("/proc/self/net/tcp")
	require.NoError(t, err)
	found := map[string]bool{}
	for line := range strings.Lines(string(table)) {
		words := strings.Fields(line) // number, local, remote, state, ...
		if words[3] != "01" {
			continue
		}
		_, local, _ := strings.Cut(words[1], ":")
		_, remote, _ := strings.Cut(words[2], ":")
		if ports[local] || ports[remote] {
			found[words[9]] = true
		}
	}
	return found
}

// sockets returns how many connections each node has, and how many only the kernel has, or only a node.
func sockets(t testing.TB, nodes []*Node) (counts []int, others int) {
	t.Helper()
	kernels := established(t, nodes)
	for _, n := range nodes {
		count := 0
		for _, l := range n.links {
			if l == nil {
				continue
			}
			l.out.Lock()
			if l.out.socket >= 0 {
				var s unix.Stat_t
				require.NoError(t, unix.Fstat(l.out.socket, &s))
				inode := fmt.Sprint(s.Ino)
				if kernels[inode] {
					count++
					delete(kernels, inode)
				} else {
					others++ // the peer has dropped it
				}
			}
			l.out.Unlock()
		}
		counts = append(counts, count)
	}
	return counts, others + len(kernels)
}

// settle waits until each node has so many connections, and the kernel no other.
func settle(t testing.TB, nodes []*Node, want int) {
	t.Helper()
	for end := time.Now().Add(carriertest.Within); ; time.Sleep(time.Millisecond) {
		for _, n := range nodes {
			n.progress(true) // they may have to hear of an end
		}
		counts, others := sockets(t, nodes)
		if others == 0 && counts[0] == want && sum(counts) == want*len(nodes) {
			return
		}
		require.True(t, time.Now().Before(end), "%v connections, and %d others", counts, others)
	}
}

func sum(counts []int) (all int) {
	for _, c := range counts {
		all += c
	}
	return all
}

// pass has each of several nodes of one rank send a message to the ranks that it is told, all at once, and take as
// many.
func pass(t testing.TB, nodes []*Node, to func(rank int) []int) {
	t.Helper()
	var all sync.WaitGroup
	for rank, n := range nodes {
		all.Go(func() {
			p := n.port(rank)
			peers := to(rank)
			for _, peer := range peers {
				if _, err := p.Send(peer, 0, int32(rank), nil, 0); !assert.NoError(t, err) {
					return
				}
			}
			for range peers {
				e := new(carrier.Event)
				// Not asleep in the kernel: a Go process of very many such threads takes long to notice each.
				for end := time.Now().Add(carriertest.Within); !p.Poll(e) && time.Now().Before(end); {
					time.Sleep(100 * time.Microsecond)
				}
				if !assert.Equal(t, carrier.Arrived, e.Kind) {
					return
				}
				giveBack(p, e)
			}
		})
	}
	all.Wait()
}

// Many processes start sooner without connections: how long it takes until all have joined, and until the messages of a
// ring, or of all to all, have come.
func TestStart(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector's time is not the engine's")
	}
	testsupport.NothingLeft(t)
	const size = 64
	var join, ring, all [2]time.Duration
	var connections [2]uint64 // after the join
	for i, atStart := range []bool{false, true} {
		begin := time.Now()
		nodes := joined(t, Options{AtStart: atStart, Patience: carriertest.Within}, ones(size)...)
		join[i], connections[i] = time.Since(begin), made(nodes)
		pass(t, nodes, around(size))
		ring[i] = time.Since(begin)
		pass(t, nodes, others(size))
		all[i] = time.Since(begin)
		settle(t, nodes, size-1)
		carriertest.CloseAll(t, nodes)
	}
	t.Logf("%d processes: joined in %v, at start %v; ring %v, %v; all to all %v, %v", size, join[0], join[1], ring[0], ring[1], all[0], all[1])
	assert.Equal(t, [2]uint64{0, size * (size - 1) / 2}, connections)
}

// ones are so many nodes of one rank each.
func ones(count int) (ports []int) {
	for range count {
		ports = append(ports, 1)
	}
	return ports
}

// around returns the neighbours of a rank in a ring, and others all ranks but it.
func around(size int) func(rank int) []int {
	return func(rank int) []int { return []int{(rank + 1) % size} }
}

func others(size int) func(rank int) []int {
	return func(rank int) (all []int) {
		for peer := range size {
			if peer != rank {
				all = append(all, peer)
			}
		}
		return all
	}
}

// Processes have connections to those they talk to, and to no others, by the kernel's count: none at first, two
// in a ring, all when all talk to all; and all from the start if that is asked for.
func TestConnectsOnDemand(t *testing.T) {
	testsupport.NothingLeft(t)
	const size = 9
	nodes := joined(t, Options{}, ones(size)...)
	settle(t, nodes, 0)
	for range 3 {
		pass(t, nodes, around(size))
		settle(t, nodes, 2)
	}
	assert.EqualValues(t, size, made(nodes))
	pass(t, nodes, others(size))
	settle(t, nodes, size-1)
	assert.EqualValues(t, size*(size-1)/2, made(nodes), "each once")
	carriertest.CloseAll(t, nodes)

	nodes = joined(t, Options{AtStart: true}, ones(size)...)
	settle(t, nodes, size-1)
}

// Two that begin to talk to each other at the same moment make one connection, whose messages keep their order.
func TestSimultaneousOpens(t *testing.T) {
	testsupport.NothingLeft(t)
	for range testsupport.Times(30, 1000) {
		nodes := joined(t, Options{}, 1, 1)
		var all sync.WaitGroup
		var ready atomic.Int32
		for rank, n := range nodes {
			all.Go(func() {
				p := n.port(rank)
				for ready.Add(1); ready.Load() < 2; {
				}
				for i := range 20 {
					mustSend(t, p, 1-rank, int32(i), nil, 0)
				}
				for i := range 20 {
					e := carriertest.Await(t, p)
					assert.EqualValues(t, i, e.Cell.Tag)
					giveBack(p, e)
				}
			})
		}
		all.Wait()
		settle(t, nodes, 1)
		require.EqualValues(t, 1, made(nodes))
		carriertest.CloseAll(t, nodes)
	}
}

// Messages to a process that has not joined yet wait for it, in order.
func TestMessagesWaitForConnection(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, early := range []int{0, 1} { // who dials, and who asks to be dialled
		peers, listeners := listening(t, []Peer{{First: 0, Ports: 1}, {First: 1, Ports: 1}})
		join := func(process int) *Node {
			n, err := Join(context.Background(), listeners[process], Options{Peers: peers, Process: process, Secret: secret})
			require.NoError(t, err)
			return n
		}
		a := join(early)
		const count = 1000
		for i := range count {
			outcome, err := a.port(early).Send(1-early, 0, int32(i), carriertest.Filled(100, i), 0)
			require.NoError(t, err)
			require.Equal(t, carrier.Done, outcome)
		}
		b := join(1 - early)
		got := make([]byte, 100)
		for i := range count {
			e := carriertest.Await(t, b.ports[0])
			require.EqualValues(t, i, e.Cell.Tag)
			_, err := b.ports[0].Fetch(&e.Cell, got, 0)
			require.NoError(t, err)
			require.Equal(t, carriertest.Filled(100, i), got)
		}
		carriertest.CloseAll(t, []*Node{a, b})
	}
}

// Connections that carry nothing are closed on both sides, and made again when there is something.
func TestIdle(t *testing.T) {
	testsupport.NothingLeft(t)
	const size = 4
	nodes := joined(t, Options{Idle: 20 * time.Millisecond}, ones(size)...)
	for i := range 5 {
		pass(t, nodes, others(size)) // whose messages wait to be acknowledged: nobody sends enough
		settle(t, nodes, 0)
		for rank, n := range nodes {
			for _, l := range n.links {
				if l != nil {
					l.in.Lock()
					assert.Empty(t, l.in.buffer, "rank %d", rank)
					l.in.Unlock()
				}
			}
		}
		assert.GreaterOrEqual(t, made(nodes), uint64((i+1)*size*(size-1)/2))
	}
}

// still has the sides of a link acknowledge all that came.
func still(t testing.TB, links ...*link) {
	t.Helper()
	for _, l := range links {
		l.in.Lock()
		l.acknowledge()
		l.in.Unlock()
	}
	for _, l := range links {
		for end := time.Now().Add(carriertest.Within); l.stillOwes(); l.node.progress(true) {
			require.True(t, time.Now().Before(end))
		}
	}
}

func (l *link) stillOwes() bool {
	l.out.Lock()
	defer l.out.Unlock()
	return l.owes()
}

// rests has a side rest.
func rests(t testing.TB, l *link) {
	t.Helper()
	l.in.Lock()
	defer l.in.Unlock()
	l.rest()
	require.True(t, l.resting.Load())
}

// Close does not wait for what nobody will acknowledge: a side may propose to rest after the peer has acknowledged its goodbye, and before it
// finds that the peer has ended the connection.
func TestRestsAfterItsGoodbye(t *testing.T) {
	testsupport.NothingLeft(t)
	nodes := joined(t, Options{Idle: time.Hour}, 1, 1)
	a, b := nodes[0].ports[0], nodes[1].ports[0]
	mustSend(t, a, 1, 0, nil, 0)
	giveBack(b, carriertest.Await(t, b))
	ours, theirs := nodes[0].links[1], nodes[1].links[0]
	still(t, ours, theirs)
	ours.leave()
	for end := time.Now().Add(carriertest.Within); theirs.fate.Load() != left; nodes[1].progress(true) {
		require.True(t, time.Now().Before(end))
	}
	ours.in.Lock()
	for end := time.Now().Add(carriertest.Within); !ours.isOver(); ours.read() {
		require.True(t, time.Now().Before(end))
	}
	require.GreaterOrEqual(t, ours.in.socket, 0, "the end of the connection has not been read yet")
	ours.rest()
	require.True(t, ours.resting.Load())
	for end := time.Now().Add(carriertest.Within); ours.in.socket >= 0; ours.read() {
		require.True(t, time.Now().Before(end))
	}
	ours.in.Unlock()
	assert.True(t, ours.isOver())
}

// Whatever crosses the word of a side that it rests, nothing is written into a connection that the other has
// dropped: either that one keeps it, and both go on with it, or what there is to send goes by another.
func TestRestIsCrossed(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, first := range []int{0, 1} { // who rests: who dials, and who is dialled
		nodes := joined(t, Options{Idle: time.Hour}, 1, 1)
		a, b := nodes[first].ports[0], nodes[1-first].ports[0]
		toB, toA := nodes[first].links[1-first], nodes[1-first].links[first]
		say := func(from, to *Port, tag int32) {
			mustSend(t, from, int(to.rank), tag, nil, 0)
			e := carriertest.Await(t, to)
			require.Equal(t, tag, e.Cell.Tag)
			giveBack(to, e)
		}
		say(a, b, 1)
		say(b, a, 2)
		settle(t, nodes, 1)

		still(t, toA, toB)
		toA.in.Lock() // b's watch reads nothing either
		rests(t, toB)
		_, err := b.Send(int(a.rank), 0, 3, nil, 0) // which b writes before it knows
		toA.in.Unlock()
		require.NoError(t, err)
		for range 100 {
			b.node.progress(true)
		}
		require.Equal(t, carrier.Arrived, carriertest.Await(t, a).Kind)
		assert.False(t, toB.resting.Load())
		say(a, b, 4)
		say(b, a, 5)
		settle(t, nodes, 1)
		require.EqualValues(t, 1, made(nodes), "they go on")

		still(t, toA, toB)
		rests(t, toB)
		toB.in.Lock()
		toB.acknowledge()
		assert.Less(t, toB.out.sent, toB.out.end, "nothing more is written")
		toB.in.Unlock()
		_, err = a.Send(int(b.rank), 0, 6, nil, 0)
		require.NoError(t, err)
		for end := time.Now().Add(carriertest.Within); toA.made() < 2 || toB.made() < 2; time.Sleep(time.Millisecond) {
			require.True(t, time.Now().Before(end))
		}
		e := carriertest.Await(t, b) // which hears of the rest only now: it was that of another connection
		require.EqualValues(t, 6, e.Cell.Tag)
		giveBack(b, e)
		say(b, a, 7)
		settle(t, nodes, 1)
		require.EqualValues(t, 2, made(nodes), "by another")

		still(t, toA, toB)
		toA.in.Lock()
		rests(t, toB)
		toA.rest()
		assert.True(t, toA.resting.Load())
		toA.in.Unlock()
		settle(t, nodes, 0)
		say(b, a, 8)
		say(a, b, 9)
		settle(t, nodes, 1)
		require.EqualValues(t, 3, made(nodes))
		carriertest.CloseAll(t, nodes)
	}
}

// A connection that who was dialled could not take counts as made on both sides: so who dials hears when he is asked for
// another, though he does not look at his connections.
func TestMissed(t *testing.T) {
	testsupport.NothingLeft(t)
	nodes := joined(t, Options{}, 1, 1)
	a, b := nodes[0], nodes[1]
	epoll, err := unix.FcntlInt(uintptr(b.epoll), unix.F_DUPFD_CLOEXEC, 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, unix.Close(epoll)) }()
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer null.Close()
	require.NoError(t, unix.Dup3(int(null.Fd()), b.epoll, unix.O_CLOEXEC)) // no connection can be watched
	_, err = a.ports[0].Send(1, 0, 1, nil, 0)
	require.NoError(t, err)
	awaits := func(what func() bool) {
		t.Helper()
		for end := time.Now().Add(carriertest.Within); !what(); time.Sleep(time.Millisecond) {
			require.True(t, time.Now().Before(end))
		}
	}
	awaits(func() bool { return a.links[1].made() == 1 && b.links[0].made() == 1 })
	require.NoError(t, unix.Dup3(epoll, b.epoll, unix.O_CLOEXEC))
	_, err = b.ports[0].Send(0, 0, 2, nil, 0)
	require.NoError(t, err)
	awaits(func() bool { return b.links[0].made() == 2 })
	assert.EqualValues(t, 1, carriertest.Await(t, b.ports[0]).Cell.Tag)
	assert.EqualValues(t, 2, carriertest.Await(t, a.ports[0]).Cell.Tag)
}

// A link whose connections are made and closed again and again, for longer than the patience, is not given up.
func TestPatienceIsForOneConnection(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, first := range []int{0, 1} {
		nodes := joined(t, Options{Idle: time.Hour, Patience: time.Second}, 1, 1)
		from, to := nodes[first].ports[0], nodes[1-first].ports[0]
		ours, theirs := nodes[first].links[1-first], nodes[1-first].links[first]
		for end := time.Now().Add(3 * time.Second); time.Now().Before(end); {
			mustSend(t, from, 1-first, 0, nil, 0)
			e := carriertest.Await(t, to)
			require.Equal(t, carrier.Arrived, e.Kind)
			giveBack(to, e)
			still(t, ours, theirs)
			rests(t, ours)
			settle(t, nodes, 0)
		}
		carriertest.CloseAll(t, nodes)
	}
}

// When its patience is over, a process asks once more to be dialled, and waits for that: it may have been stopped meanwhile.
func TestLastNudgeIsAwaited(t *testing.T) {
	testsupport.NothingLeft(t)
	const patience = 2 * time.Second
	nodes := joined(t, Options{Patience: patience}, 1, 1)
	dials, asks := nodes[0], nodes[1]
	l := asks.links[0]
	require.False(t, l.dials())
	l.in.Lock() // no connection can be taken
	mustSend(t, asks.ports[0], 0, 0, nil, 0)
	time.Sleep(patience + patience/3)
	l.in.Unlock()
	assert.Equal(t, carrier.Arrived, carriertest.Await(t, dials.ports[0]).Kind, "%v", asks.Gone(0))
}

// A peer that has ended without ever having been met is found when something is sent to it. A process that leaves says
// so to those that it has met, though their connection is closed.
func TestUnmet(t *testing.T) {
	testsupport.NothingLeft(t)
	nodes := joined(t, Options{Idle: 10 * time.Millisecond}, 1, 1, 1)
	a, b := nodes[0].port(0), nodes[1].port(1)
	nodes[2].die()
	_, err := a.Send(2, 0, 0, nil, 0)
	require.NoError(t, err)
	e := carriertest.Await(t, a)
	assert.Equal(t, []any{carrier.Gone, 2}, []any{e.Kind, e.First})
	carriertest.IsGone(t, a.node.Gone(2), "rank 2 is gone: its process has ended: nobody listens at")

	mustSend(t, b, 0, 1, nil, 0)
	giveBack(a, carriertest.Await(t, a))
	settle(t, nodes[:2], 0)
	require.NoError(t, b.node.Close())
	assert.Equal(t, carrier.Gone, carriertest.Await(t, a).Kind)
	carriertest.IsGone(t, a.node.Gone(1), "its process has closed its node")
	carriertest.CloseAll(t, nodes)
}

// Nothing is lost, doubled, overtaken or changed while connections are closed and made again at random, because
// they carry nothing for a while, and break at random too. TPSL_TEST_LARGE=1 sends 10^6 messages.
func TestOpensAndCloses(t *testing.T) {
	testsupport.NothingLeft(t)
	random := seeded(t)
	count := testsupport.Times(100_000, 1_000_000) / 6 // each to each of two
	if raceDetector {
		count /= 10
	}
	nodes := joined(t, Options{Idle: time.Millisecond}, 1, 1, 1)
	breaks := talkBroken(t, nodes, random, count, 20*time.Millisecond, 200*time.Millisecond)
	require.Greater(t, made(nodes), uint64(10+breaks))
}

// What a connection costs: from the first message to its arrival, whoever of the two has to dial.
func BenchmarkConnection(b *testing.B) {
	for first, name := range []string{"dials", "nudges"} {
		b.Run(name, func(b *testing.B) {
			nodes := joined(b, Options{Idle: time.Hour}, 1, 1)
			from, to := nodes[first].ports[0], nodes[1-first].ports[0]
			for b.Loop() {
				mustSend(b, from, 1-first, 0, nil, 0)
				e := new(carrier.Event)
				for !to.Poll(e) {
				}
				b.StopTimer()
				giveBack(to, e)
				ours, theirs := nodes[first].links[1-first], nodes[1-first].links[first]
				still(b, ours, theirs)
				rests(b, ours)
				settle(b, nodes, 0)
				b.StartTimer()
			}
		})
	}
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
	"github.com/tpsl/tpsl/endpoints/engine/shm"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// joinedByRails is joined for processes of one rank that have so many rails between each two.
func joinedByRails(t testing.TB, o Options, processes, rails int) []*Node {
	t.Helper()
	return joinedBeside(t, o, make([]*shm.Node, processes), rails)
}

// joinedBeside joins the processes of several hosts by rails; those of a host have joined by shared memory, unless they are nil.
func joinedBeside(t testing.TB, o Options, near []*shm.Node, rails int) []*Node {
	t.Helper()
	processes := len(near)
	peers, listeners := make([]Peer, processes), make([][]*net.TCPListener, processes)
	for i := range peers {
		var addresses []string
		for rail := range rails {
			l, err := Listen(fmt.Sprintf("127.0.0.%d:0", 1+rail))
			require.NoError(t, err)
			listeners[i] = append(listeners[i], l)
			addresses = append(addresses, l.Addr().String())
		}
		peers[i] = Peer{First: i, Ports: 1, Address: addresses[0], Rails: addresses[1:]}
	}
	ctx, cancel := context.WithTimeout(context.Background(), carriertest.Within)
	defer cancel()
	nodes, errs := make([]*Node, processes), make([]error, processes)
	var all sync.WaitGroup
	for i := range peers {
		o := o
		o.Peers, o.Process, o.Secret, o.Rails = slices.Clone(peers), i, secret, listeners[i][1:]
		if near[i] != nil {
			o.Bells = []*carrier.Bell{near[i].Port(i).Bell()}
			for j := range o.Peers {
				if near[i].Reaches(j) {
					o.Peers[j].Address, o.Peers[j].Rails = "", nil
				}
			}
		}
		all.Go(func() { nodes[i], errs[i] = Join(ctx, listeners[i][0], o) })
	}
	all.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	t.Cleanup(func() { carriertest.CloseAll(t, nodes) })
	return nodes
}

// hosts joins processes by shared memory, so many on each host.
func hosts(t testing.TB, processes, perHost int) (near []*shm.Node) {
	ctx, cancel := context.WithTimeout(context.Background(), carriertest.Within)
	defer cancel()
	near = make([]*shm.Node, processes)
	errs := make([]error, processes)
	var all sync.WaitGroup
	for first := 0; first < processes; first += perHost {
		var forMeet []*os.File
		for i := first; i < first+perHost; i++ {
			m, j, err := shm.Socketpair()
			require.NoError(t, err)
			forMeet = append(forMeet, m)
			all.Go(func() {
				near[i], errs[i] = shm.Join(ctx, j, shm.Options{First: i, Ports: 1, Total: processes})
				j.Close()
			})
		}
		all.Go(func() {
			assert.NoError(t, shm.Meet(ctx, forMeet))
			for _, f := range forMeet {
				f.Close()
			}
		})
	}
	all.Wait()
	require.NoError(t, errors.Join(errs...))
	t.Cleanup(func() {
		for _, n := range near {
			if err := n.Close(); !errors.Is(err, os.ErrClosed) { // by the test
				require.NoError(t, err)
			}
		}
	})
	return near
}

// severRail breaks a rail by which a link sends. It tells whether there was one.
func (l *link) severRail(i int, hard bool) bool {
	l.out.Lock()
	defer l.out.Unlock()
	r := &l.out.rails[i]
	if r.socket < 0 {
		return false
	}
	if hard {
		_ = unix.SetsockoptLinger(r.socket, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	}
	_ = unix.Shutdown(r.socket, unix.SHUT_RD)
	return true
}

// severIn breaks a rail by which a link receives, so that what is on its way is lost to it.
func (l *link) severIn(i int) bool {
	l.in.Lock()
	defer l.in.Unlock()
	was := l.in.rails[i].socket >= 0
	l.closeIn(i)
	return was
}

// breakRails breaks a random rail, at either end, or the stream. It tells whether there was one.
func breakRails(random *rand.Rand, l *link) (rail, stream bool) {
	i := random.IntN(len(l.addresses))
	switch random.IntN(8) {
	case 0:
		return false, l.sever(random.IntN(2) == 0)
	case 1, 2, 3:
		return l.severIn(i), false
	default:
		return l.severRail(i, random.IntN(2) == 0), false
	}
}

// Nothing is lost, doubled, overtaken or changed while random rails break, and streams. TPSL_TEST_LARGE=1 sends 102,000 messages.
func TestRailsBreak(t *testing.T) {
	testsupport.NothingLeft(t)
	testsupport.Limit(t, 10*time.Minute) // with the race detector, on a busy machine
	random := seeded(t)
	count := testsupport.Times(2_000, 17_000) // each to each of two
	nodes := joinedByRails(t, Options{}, 3, 3)
	var talkers []*talker
	var all sync.WaitGroup
	errs := make([]error, len(nodes))
	for i, n := range nodes {
		k := newTalker(n, random.Uint64())
		k.large = 4
		talkers = append(talkers, k)
		all.Go(func() { errs[i] = k.talk(count) })
	}
	var over atomic.Bool
	var rails, streams int
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for !over.Load() {
			if l := nodes[random.IntN(len(nodes))].links[random.IntN(len(nodes))]; l != nil {
				var rail, stream bool
				if streams == 0 { // at first, as all may be over soon
					stream = l.sever(random.IntN(2) == 0)
				} else {
					rail, stream = breakRails(random, l)
				}
				if rail {
					rails++
				}
				if stream {
					streams++
				}
			}
			pause := 4_000
			if rails == 0 {
				pause = 400
			}
			time.Sleep(time.Duration(random.IntN(pause)) * time.Microsecond)
		}
	}()
	all.Wait()
	over.Store(true)
	<-ended
	total := 0
	for i, k := range talkers {
		require.NoError(t, errs[i])
		total += k.fetched
	}
	require.Equal(t, 6*count, total)
	t.Logf("%d messages, %d breaks of rails, %d of streams", total, rails, streams)
	require.Positive(t, rails)
	require.Positive(t, streams)
}

// 64 processes of 16 hosts send to one another at random: those of a host by shared memory, the others each by two rails. Connections close and
// open, streams and rails break, tracks become longer and shorter, and three processes end in the midst of it. Nothing is lost, doubled, overtaken or changed among
// the others, and they hear who has ended. TPSL_TEST_LARGE=1 sends 10^7 messages. With the race detector they are 16 processes, which make a sixteenth of the connections.
func TestManyTalk(t *testing.T) {
	testsupport.NothingLeft(t)
	testsupport.Limit(t, 30*time.Minute)
	const perHost, rails, deaths = 4, 2, 3
	random := seeded(t)
	processes, count := 64, testsupport.Times(20, 1_500) // each to each
	if raceDetector {
		processes = 16
	}
	near := hosts(t, processes, perHost)
	// All nodes are in this process, which may have a small part of a processor: none is to be taken for out of reach.
	nodes := joinedBeside(t, Options{Idle: 5 * time.Millisecond, Patience: 10 * time.Minute}, near, rails)
	var talkers []*talker
	for i, n := range nodes {
		both, err := carrier.Both(near[i], n)
		require.NoError(t, err)
		k := newTalker(both, random.Uint64())
		k.moody, k.large = 200*time.Millisecond, 1
		for rank := range k.near {
			k.near[rank] = near[i].Reaches(rank)
		}
		k.breaks = breaking(k.random, n)
		k.die = func() {
			n.die()
			assert.NoError(t, near[i].Close())
		}
		talkers = append(talkers, k)
	}
	mortal := random.Perm(processes)[:deaths]
	for i, rank := range mortal {
		talkers[rank].dies = (i + 1) * count * processes / (deaths + 1)
		for _, k := range talkers {
			k.mortal[rank] = true
		}
	}
	var all sync.WaitGroup
	errs := make([]error, processes)
	for i, k := range talkers {
		all.Go(func() { errs[i] = k.talk(count) })
	}
	all.Wait()
	total := 0
	for i, k := range talkers {
		require.NoError(t, errs[i])
		if k.dies > 0 {
			continue
		}
		total += k.fetched
		assert.GreaterOrEqual(t, k.fetched, count*(processes-1-deaths), "rank %d", i)
		for _, rank := range mortal {
			assert.True(t, k.gone[rank], "rank %d has not heard of the end of rank %d", i, rank)
			carriertest.IsGone(t, k.node.Gone(rank), fmt.Sprintf("rank %d is gone", rank))
		}
	}
	full, breaks := 0, 0
	for _, k := range talkers {
		full += k.full
		breaks += k.broken
	}
	t.Logf("%d messages, %d breaks, %d connections made, %d sends found no room", total, breaks, made(nodes), full)
	require.Positive(t, breaks)
	require.Positive(t, full, "no track had to become longer")
}

// Large messages take all rails, short ones none.
func TestRailsShare(t *testing.T) {
	testsupport.NothingLeft(t)
	nodes := joinedByRails(t, Options{}, 2, 2)
	a, b := nodes[0].port(0), nodes[1].port(1)
	rails := func() (count int) {
		l := nodes[0].links[1]
		l.out.Lock()
		defer l.out.Unlock()
		for i := range l.out.rails {
			if l.out.rails[i].socket >= 0 {
				count++
			}
		}
		return count
	}
	transfer(t, a, b, fromParts-1)
	require.Zero(t, rails())
	for end := time.Now().Add(carriertest.Within); rails() < 2; { // the first may carry all before the second is there
		require.True(t, time.Now().Before(end))
		transfer(t, a, b, 20<<20)
	}
	l := nodes[1].links[0]
	require.Eventually(t, func() bool { // who has dialled may be first
		l.in.Lock()
		defer l.in.Unlock()
		return !slices.ContainsFunc(l.in.rails, func(r inRail) bool { return r.socket < 0 })
	}, carriertest.Within, time.Millisecond)
}

// transfer has a port send a message to another one, and compares it.
func transfer(t testing.TB, from, to *Port, size int) {
	t.Helper()
	sent, got := carriertest.Filled(size, size), make([]byte, size)
	outcome := mustSend(t, from, int(to.rank), 0, sent, 1)
	e := carriertest.Await(t, to)
	require.Equal(t, carrier.Arrived, e.Kind)
	done, err := to.Fetch(&e.Cell, got, 2)
	require.NoError(t, err)
	if !done {
		e := carriertest.Await(t, to)
		require.Equal(t, carrier.Received, e.Kind)
		require.False(t, e.Lost)
	}
	if outcome == carrier.Pending {
		e := carriertest.Await(t, from)
		require.Equal(t, carrier.Sent, e.Kind)
		require.False(t, e.Lost)
	}
	require.Equal(t, sent, got)
}

// Rails close when nothing goes by them, and are made again.
func TestRailsRest(t *testing.T) {
	testsupport.NothingLeft(t)
	nodes := joinedByRails(t, Options{Idle: 20 * time.Millisecond}, 2, 2)
	none := func() bool {
		for _, n := range nodes {
			n.progress(true)
			for _, l := range n.links {
				if l == nil {
					continue
				}
				l.in.Lock()
				l.out.Lock()
				open := l.anyRail()
				for i := range l.in.rails {
					open = open || l.in.rails[i].socket >= 0
				}
				l.out.Unlock()
				l.in.Unlock()
				if open {
					return false
				}
			}
		}
		return true
	}
	for range 3 {
		transfer(t, nodes[0].port(0), nodes[1].port(1), 4<<20)
		transfer(t, nodes[1].port(1), nodes[0].port(0), 4<<20)
		require.Eventually(t, none, carriertest.Within, time.Millisecond)
	}
}

// What addresses cannot be is said in one line.
func TestRailsThatCannotBe(t *testing.T) {
	for want, peers := range map[string][]Peer{
		"2 addresses of this process, and listeners at 1": {{Ports: 1, Address: "127.0.0.1:1", Rails: []string{"127.0.0.2:1"}}},
		"process 1 listens at 2 addresses, and this one at 1: give each process as many, in the same order of networks": {
			{Ports: 1, Address: "127.0.0.1:1"}, {First: 1, Ports: 1, Address: "127.0.0.1:2", Rails: []string{"127.0.0.2:1"}}},
	} {
		l, err := Listen("127.0.0.1:0")
		require.NoError(t, err)
		_, err = Join(context.Background(), l, Options{Peers: peers})
		assert.EqualError(t, err, "join a node: "+want)
	}
	for want, peers := range map[string][]Peer{
		`process 0 listens at "127.0.0.2": want host:port`:                           {{Ports: 1, Address: "127.0.0.1:1", Rails: []string{"127.0.0.2"}}},
		"process 0 listens at 127.0.0.1 twice: give each rail an address of its own": {{Ports: 1, Address: "127.0.0.1:1", Rails: []string{"127.0.0.1:2"}}},
	} {
		l, err := Listen("127.0.0.1:0")
		require.NoError(t, err)
		rail, err := Listen("127.0.0.2:0")
		require.NoError(t, err)
		_, err = Join(context.Background(), l, Options{Peers: peers, Rails: []*net.TCPListener{rail}})
		require.EqualError(t, err, "join a node: "+want)
		_, err = net.Dial("tcp", rail.Addr().String())
		require.ErrorIs(t, err, unix.ECONNREFUSED, "nobody listens any more")
	}
	_, err := Listen("192.0.2.1:0")
	require.ErrorContains(t, err, "cannot assign requested address")
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// In model HMCS a message wakes the thread that waits for it and no other, and when the
// server goes, one thread more: the next server.
func TestHMCSWakesOne(t *testing.T) {
	const threads = 6
	t.Cleanup(func() { clientSleep = time.Millisecond })
	clientSleep = time.Hour // signals alone end waits
	f := fabric(t, Options{Ports: 2, Model: HMCS})
	p := f.Port(1)
	var requests [threads]Request
	var ended [threads]chan uint64
	for i := range requests {
		requests[i], _ = p.Irecv(make([]byte, 8), Envelope{Peer: 0, Tag: int32(i)})
		s := p.ops.seat(requests[i].op.index)
		ended[i] = make(chan uint64)
		go func() {
			_, err := requests[i].Wait()
			assert.NoError(t, err)
			ended[i] <- s.woken
		}()
		until(t, "thread in the list", func() bool { return waiting(p) == i })
		until(t, "sleep", func() bool { return i == 0 || sleeps(s) })
	}
	end := func(i int) {
		require.NoError(t, f.Port(0).Send(number(i), Envelope{Peer: 1, Tag: int32(i)}))
		select {
		case woken := <-ended[i]:
			assert.EqualValues(t, min(i, 1), woken, "wake-ups of thread %d; the first never sleeps", i)
		case <-time.After(time.Minute):
			require.Fail(t, "no signal", "thread %d", i)
		}
	}
	for _, i := range []int{3, 5, 0, 4} {
		end(i)
	}
	// 0 was the server and made 1 the next, as it had waited longest.
	until(t, "next server", func() bool { return p.ops.seat(requests[1].op.index).role.Load() == serving })
	assert.LessOrEqual(t, p.ops.seat(requests[2].op.index).role.Load(), uint32(asleep))
	end(2)
	end(1)
	until(t, "end of service", func() bool { return !serves(p) })
}

// One of 65 threads that wait on a port polls, and the others use next to no processor time: what they use is what
// the time of all differs by when they are gone.
func TestHMCSSleepersRest(t *testing.T) {
	const sleepers, rest = 64, time.Second
	f := fabric(t, Options{Ports: 2, Model: HMCS})
	p := f.Port(1)
	var all sync.WaitGroup
	wait := func(tag int32) {
		all.Go(func() {
			_, err := p.Recv(make([]byte, 8), Envelope{Peer: 0, Tag: tag})
			assert.NoError(t, err)
		})
	}
	wait(sleepers)
	until(t, "server", func() bool { return serves(p) })
	for tag := range int32(sleepers) {
		wait(tag)
	}
	until(t, "all in the list", func() bool { return waiting(p) == sleepers })
	time.Sleep(rest / 10) // they look a while before they sleep
	together := processors(t, rest)
	for tag := range int32(sleepers) {
		require.NoError(t, f.Port(0).Send(number(1), Envelope{Peer: 1, Tag: tag}))
	}
	until(t, "one left", func() bool { return waiting(p) == 0 })
	alone := processors(t, rest)
	each := (together - alone) / sleepers
	t.Logf("%.3f processors with %d sleepers, %.3f without: %.4f each", together, sleepers, alone, each)
	assert.Less(t, each, 0.01)
	require.NoError(t, f.Port(0).Send(number(1), Envelope{Peer: 1, Tag: sleepers}))
	all.Wait()
}

// processors is how many of them this process keeps busy for some time.
func processors(t *testing.T, pass time.Duration) float64 {
	t.Helper()
	used := func() time.Duration {
		var u unix.Rusage
		require.NoError(t, unix.Getrusage(unix.RUSAGE_SELF, &u))
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	began, before := time.Now(), used()
	time.Sleep(pass)
	return float64(used()-before) / float64(time.Since(began))
}

// No message and no wake-up is lost among eight threads that wait on one port in model HMCS, whose messages come in random order.
// TPSL_TEST_LARGE=1 makes them 10^6.
func TestHMCSWaits(t *testing.T) {
	const threads = 8
	each := testsupport.Times(2000, 125_000)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var order []int32
	for tag := range int32(threads) {
		for range each {
			order = append(order, tag)
		}
	}
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	t.Cleanup(func() { clientSleep = time.Millisecond })
	clientSleep = time.Hour // a wake-up that is lost is not made up for
	f := fabric(t, Options{Ports: 2, Model: HMCS})
	var all sync.WaitGroup
	for tag := range int32(threads) {
		all.Go(func() {
			var buf [8]byte
			for n := range uint64(each) {
				_, err := f.Port(1).Recv(buf[:], Envelope{Peer: 0, Tag: tag})
				if !assert.NoError(t, err) || !assert.Equal(t, n, binary.LittleEndian.Uint64(buf[:]), "tag %d", tag) {
					return
				}
			}
		})
	}
	var sent [threads]int
	for _, tag := range order {
		require.NoError(t, f.Port(0).Send(number(sent[tag]), Envelope{Peer: 1, Tag: tag}))
		sent[tag]++
	}
	all.Wait()
}

// waiting counts a port's threads that line up, and serves tells whether one polls.
func waiting(p *Port) (n int) {
	e := p.enter()
	defer p.leave(e)
	for s := p.first; s != nil; s = s.next {
		if s.role.Load() == asleep {
			n++
		}
	}
	if !p.served {
		return -1
	}
	return n
}

func serves(p *Port) bool {
	e := p.enter()
	defer p.leave(e)
	return p.served
}

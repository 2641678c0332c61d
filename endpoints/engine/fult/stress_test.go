// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package fult

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pairs runs two workers, on two OS threads, whose threads signal one another: thread
// i of one and thread i of the other take turns. A lost signal stops a pair, which
// the time limit tells.
func pairs(t *testing.T, threads, rounds int, between func(round int)) {
	var workers [2]*Worker
	bits := [2][]Bit{make([]Bit, threads), make([]Bit, threads)}
	turns := make([]atomic.Int64, threads)
	for side := range workers {
		w := NewWorker(threads)
		workers[side] = w
		for i := range threads {
			thread := create(t, w, func(me *Thread) {
				for round := range rounds {
					for turns[i].Load() != int64(2*round+side) {
						me.Wait()
					}
					if between != nil {
						between(round)
					}
					turns[i].Add(1)
					bits[1-side][i].Set()
				}
			})
			bits[side][i] = thread.Bit()
		}
	}
	failed := make(chan error, 2)
	for _, w := range workers {
		go func() { failed <- w.Run() }()
	}
	limit := time.AfterFunc(5*time.Minute, func() {
		workers[0].Stop()
		workers[1].Stop()
	})
	defer limit.Stop()
	require.NoError(t, <-failed)
	require.NoError(t, <-failed)
	for i := range turns {
		assert.EqualValues(t, 2*rounds, turns[i].Load(), "pair %d", i)
	}
}

// More than a million signals between two OS threads, none lost.
func TestNoSignalIsLost(t *testing.T) {
	rounds := 1 << 20 / 700
	if raceDetector {
		rounds /= 10
	}
	pairs(t, 700, rounds, nil)
}

// The same with one pair, so that the workers sleep and are woken all the time, with
// pauses about as long as they look before they sleep.
func TestNoSignalIsLostToASleepingWorker(t *testing.T) {
	pairs(t, 1, 4000, func(round int) {
		for begin := time.Now(); time.Since(begin) < time.Duration(round%50)*time.Microsecond; {
			continue
		}
	})
}

// Whoever is ready runs after each other thread has run at most twice, though most
// are ready most of the time.
func TestEverybodyHasATurn(t *testing.T) {
	const threads = 2*hintThreads + 100
	r := newReady(threads)
	since := make([]int, threads) // when it became ready; 0: it is not
	step := 1
	signal := func(thread int) {
		if since[thread] == 0 {
			since[thread] = step
		}
		b := r.bit(thread, new(Bell))
		b.Set()
	}
	for i := range threads / 2 {
		signal(i)
	}
	random := rand.New(rand.NewPCG(1, 2))
	longest := 0
	for ; step < 10*threads; step++ {
		thread := r.take()
		if thread < 0 {
			require.Fail(t, "no thread, though some are ready")
		}
		if since[thread] != 0 { // else it was signalled while it was next
			longest = max(longest, step-since[thread])
			since[thread] = 0
		}
		if step%4 != 0 {
			signal(thread)
		}
		signal(random.IntN(threads))
	}
	assert.LessOrEqual(t, longest, 2*threads)
	for i, at := range since {
		if at != 0 && step-at > 2*threads {
			assert.Fail(t, "starved", "thread %d waits since %d", i, at)
		}
	}
}

// The set returns each thread that was signalled, once, whatever its size.
func TestReadySetHoldsAll(t *testing.T) {
	for _, threads := range []int{1, 65, 513, hintThreads, hintThreads + 1, 1 << 18} {
		r := newReady(threads)
		bell := new(Bell)
		for step := 1; step < 20*threads; step *= 21 {
			var want, got []int
			for i := 0; i < threads; i += step {
				b := r.bit(i, bell)
				b.Set()
				b.Set()
				want = append(want, i)
			}
			for range want {
				got = append(got, r.take())
			}
			slices.Sort(got)
			if !slices.Equal(want, got) { // each once, so that one taken twice does not stand for one that is lost
				require.Fail(t, "wrong threads", "of %d, every %d signalled: %s", threads, step, difference(want, got))
			}
			require.Equal(t, -1, r.take())
			require.False(t, r.any())
		}
	}
}

// difference names the first few of what two sorted lists do not have in common.
func difference(want, got []int) string {
	count := map[int]int{}
	for _, i := range want {
		count[i]--
	}
	for _, i := range got {
		count[i]++
	}
	maps.DeleteFunc(count, func(_, n int) bool { return n == 0 })
	text := fmt.Sprintf("%d differ:", len(count))
	for _, i := range slices.Sorted(maps.Keys(count))[:min(5, len(count))] {
		text += fmt.Sprintf(" %d came %+d times too often", i, count[i])
	}
	return text
}

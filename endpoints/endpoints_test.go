// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package endpoints

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const slots = 8

func newJob(t *testing.T) Endpoints {
	e, err := Make([]int{10, 11, 12, 13, 14, 15, 16, 17})
	require.NoError(t, err)
	return e
}

// The main thread of a Go program never ends, so no test may run on it.
func init() { runtime.LockOSThread() }

// onThread runs f on a thread of its own, which ends when f returns.
func onThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		f()
	}()
	<-done
}

func stateSoon(t *testing.T, e Endpoints, slot int, want State) {
	t.Helper()
	assert.Eventually(t, func() bool { return e.StateOf(slot) == want }, time.Minute, time.Millisecond, "slot %d is %v", slot, e.StateOf(slot))
}

func TestLifeOfASlot(t *testing.T) {
	e := newJob(t)
	require.Equal(t, slots, e.Count())
	assert.Equal(t, Free, e.StateOf(0))
	end := make(chan struct{})
	bound := make(chan bool)
	go onThread(func() {
		first := e.claim(0)
		bound <- first && e.StateOf(0) == Claimed && !e.claim(0)
		e.bind(0)
		bound <- e.StateOf(0) == Bound && self() == 0 && !e.adopt(0, 1)
		<-end
	})
	assert.True(t, <-bound, "claimed by one thread only")
	assert.True(t, <-bound, "bound, and not to be adopted while its thread lives")
	onThread(func() { assert.False(t, e.adopt(0, 1), "by another thread") })
	close(end)
	stateSoon(t, e, 0, Ended)
	onThread(func() {
		assert.True(t, e.adopt(0, 0))
		assert.Equal(t, 0, self())
		assert.Equal(t, Bound, e.StateOf(0))
	})
	stateSoon(t, e, 0, Ended)
}

func TestAdoptWaitsForAThreadThatEnds(t *testing.T) {
	e := newJob(t)
	end := make(chan struct{})
	bound := make(chan struct{})
	go onThread(func() {
		e.claim(1)
		e.bind(1)
		close(bound)
		<-end
	})
	<-bound
	result := make(chan bool)
	go onThread(func() { result <- e.adopt(1, 60_000) })
	close(end)
	assert.True(t, <-result)
}

// Many threads at once: a slot is won by exactly one of them.
func TestClaimRace(t *testing.T) {
	e := newJob(t)
	var won atomic.Int32
	var all sync.WaitGroup
	start := make(chan struct{})
	for range 16 {
		all.Add(1)
		go onThread(func() {
			defer all.Done()
			<-start
			if e.claim(2) {
				won.Add(1)
			}
		})
	}
	close(start)
	all.Wait()
	assert.Equal(t, int32(1), won.Load())
}

func TestClaimLowest(t *testing.T) {
	e := newJob(t)
	require.True(t, e.claim(0))
	require.True(t, e.claim(2))
	assert.Equal(t, 1, e.claimLowest())
	assert.Equal(t, 3, e.claimLowest(), "0 to 2 are taken")
}

func TestSwitchKeepsOwnership(t *testing.T) {
	e := newJob(t)
	onThread(func() {
		require.True(t, e.claim(5))
		e.bind(5)
		e.switchTo(6)
		assert.Equal(t, 6, self())
	})
	stateSoon(t, e, 5, Ended)
}

// The endpoints of two jobs are two: a thread that leaves one may be of the other next, and one job's go while the other's stay.
func TestTwoJobs(t *testing.T) {
	first, second := newJob(t), newJob(t)
	onThread(func() {
		require.True(t, first.claim(3))
		first.bind(3)
		assert.Equal(t, Free, second.StateOf(3))
		first.leave(3)
		assert.Equal(t, -1, self())
		assert.Equal(t, Ended, first.StateOf(3))
		require.True(t, second.claim(4))
		second.bind(4)
		assert.Equal(t, 4, self())
	})
	first.Free()
	stateSoon(t, second, 4, Ended)
	assert.Equal(t, slots, second.Count())
	second.Free()
}

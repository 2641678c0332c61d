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

// Endpoints are made once per process, as in a program.
var makeOnce = sync.OnceValue(func() error { return Make([]int{10, 11, 12, 13, 14, 15, 16, 17}) })

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

func stateSoon(t *testing.T, slot int, want State) {
	t.Helper()
	assert.Eventually(t, func() bool { return StateOf(slot) == want }, time.Minute, time.Millisecond, "slot %d is %v", slot, StateOf(slot))
}

func TestLifeOfASlot(t *testing.T) {
	require.NoError(t, makeOnce())
	require.Equal(t, slots, Count())
	assert.Equal(t, Free, StateOf(0))
	end := make(chan struct{})
	bound := make(chan bool)
	go onThread(func() {
		first := claim(0)
		bound <- first && StateOf(0) == Claimed && !claim(0)
		bind(0)
		bound <- StateOf(0) == Bound && self() == 0 && !adopt(0, 1)
		<-end
	})
	assert.True(t, <-bound, "claimed by one thread only")
	assert.True(t, <-bound, "bound, and not to be adopted while its thread lives")
	onThread(func() { assert.False(t, adopt(0, 1), "by another thread") })
	close(end)
	stateSoon(t, 0, Ended)
	onThread(func() {
		assert.True(t, adopt(0, 0))
		assert.Equal(t, 0, self())
		assert.Equal(t, Bound, StateOf(0))
	})
	stateSoon(t, 0, Ended)
}

func TestAdoptWaitsForAThreadThatEnds(t *testing.T) {
	require.NoError(t, makeOnce())
	end := make(chan struct{})
	bound := make(chan struct{})
	go onThread(func() {
		claim(1)
		bind(1)
		close(bound)
		<-end
	})
	<-bound
	result := make(chan bool)
	go onThread(func() { result <- adopt(1, 60_000) })
	close(end)
	assert.True(t, <-result)
}

// Many threads at once: a slot is won by exactly one of them.
func TestClaimRace(t *testing.T) {
	require.NoError(t, makeOnce())
	var won atomic.Int32
	var all sync.WaitGroup
	start := make(chan struct{})
	for range 16 {
		all.Add(1)
		go onThread(func() {
			defer all.Done()
			<-start
			if claim(2) {
				won.Add(1)
			}
		})
	}
	close(start)
	all.Wait()
	assert.Equal(t, int32(1), won.Load())
}

func TestClaimLowest(t *testing.T) {
	require.NoError(t, makeOnce())
	require.True(t, claim(3))
	assert.Equal(t, 4, claimLowest(), "0 to 3 are taken")
}

func TestSwitchKeepsOwnership(t *testing.T) {
	require.NoError(t, makeOnce())
	onThread(func() {
		require.True(t, claim(5))
		bind(5)
		switchTo(6)
		assert.Equal(t, 6, self())
	})
	stateSoon(t, 5, Ended)
}

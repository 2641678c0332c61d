// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package locks

import (
	"reflect"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// until waits for what another goroutine is about to do.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	end := time.Now().Add(time.Minute)
	for !is() {
		require.True(t, time.Now().Before(end), "no %s after a minute", what)
		runtime.Gosched()
	}
}

// atRest checks that a *Node or *Entry is as new.
func atRest(t *testing.T, place any) {
	t.Helper()
	assert.True(t, reflect.ValueOf(place).Elem().IsZero(), "at rest")
}

// crowd runs body in more threads than there are CPUs, each with an OS thread of its own.
func crowd(threads int, body func(thread int)) {
	var all sync.WaitGroup
	for i := range threads {
		all.Go(func() {
			runtime.LockOSThread()
			body(i)
		})
	}
	all.Wait()
}

// Each lock lets one thread in at a time, with more threads than CPUs.
func TestExclusion(t *testing.T) {
	const threads, turns = 8, 200
	var mcs MCS
	near, far := NewHMCS(1), NewHMCS(2)
	var flag Flag
	var csync CSync[int]
	for _, c := range []struct {
		name string
		with func(thread int, n *Node, e *Entry[int], f func())
	}{
		{"MCS", func(_ int, n *Node, _ *Entry[int], f func()) {
			mcs.Acquire(n)
			f()
			mcs.Release(n)
		}},
		{"MCS, tried", func(_ int, n *Node, _ *Entry[int], f func()) {
			for s := (Spin{}); !mcs.Try(n); {
				s.Pause()
			}
			f()
			mcs.Release(n)
		}},
		{"HMCS, one domain", func(_ int, n *Node, _ *Entry[int], f func()) {
			near.Acquire(n, 0)
			f()
			near.Release(n, 0)
		}},
		{"HMCS, two domains", func(i int, n *Node, _ *Entry[int], f func()) {
			far.Acquire(n, i%2)
			f()
			far.Release(n, i%2)
		}},
		{"Flag", func(_ int, _ *Node, _ *Entry[int], f func()) {
			flag.Acquire()
			f()
			flag.Release()
		}},
		{"CSync, tried", func(_ int, n *Node, e *Entry[int], f func()) {
			for s := (Spin{}); !csync.Try(n, e); {
				s.Pause()
			}
			f()
			assert.Nil(t, csync.Next(e), "nobody offers operations")
			csync.Release(n)
		}},
		{"CSync, alone", func(_ int, n *Node, e *Entry[int], f func()) {
			csync.Acquire(n, e)
			f()
			assert.Nil(t, csync.Next(e), "nobody offers operations")
			csync.Release(n)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			count := 0 // the race detector looks on
			crowd(threads, func(i int) {
				var n Node
				var e Entry[int]
				for turn := range turns {
					c.with(i, &n, &e, func() {
						was := count
						if turn%16 == 0 {
							runtime.Gosched() // while it holds the lock
						}
						count = was + 1
					})
				}
				atRest(t, &n)
				atRest(t, &e)
			})
			assert.Equal(t, threads*turns, count)
		})
	}
}

// A wait that lasts looks seldom.
func TestLongWaitIsCheap(t *testing.T) {
	const wait = 100 * time.Millisecond
	var s Spin
	looks := 0
	for end := time.Now().Add(wait); time.Now().Before(end); looks++ {
		s.Pause()
	}
	assert.Less(t, looks, int(spins)+int(yields+wait/nap))
}

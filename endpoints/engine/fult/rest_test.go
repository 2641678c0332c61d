// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package fult

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A worker whose threads are always ready polls all the same, and one whose threads
// all wait goes on polling.
func TestWorkersPoll(t *testing.T) {
	for name, wait := range map[string]func(*Thread){"ready": (*Thread).Yield, "waiting": (*Thread).Wait} {
		t.Run(name, func(t *testing.T) {
			w := NewWorker(10)
			polled := 0
			var bits []Bit
			for range 10 {
				bits = append(bits, create(t, w, func(me *Thread) {
					for i := 0; polled < 100 && i < 100*turn; i++ {
						wait(me)
					}
				}).Bit())
			}
			w.Poll = func() bool {
				if polled++; polled < 100 {
					return false
				}
				for _, b := range bits {
					b.Set()
				}
				return true
			}
			require.NoError(t, w.Run())
			assert.GreaterOrEqual(t, polled, 100)
		})
	}
}

// A worker without work takes next to no time of a CPU, whether it polls or not.
func TestWorkersSleep(t *testing.T) {
	for name, poll := range map[string]func() bool{"signals": nil, "polls": func() bool { return false }} {
		t.Run(name, func(t *testing.T) {
			w := NewWorker(1)
			w.Poll = poll
			var done atomic.Bool
			b := create(t, w, func(me *Thread) {
				for !done.Load() {
					me.Wait()
				}
			}).Bit()
			runtime.GC() // which takes a CPU's time, not while it is measured
			before, begin := cpuTime(t), time.Now()
			time.AfterFunc(400*time.Millisecond, func() {
				done.Store(true)
				b.Set()
			})
			require.NoError(t, w.Run())
			assert.Less(t, cpuTime(t)-before, time.Since(begin)/4)
		})
	}
}

// cpuTime returns what this process has had of the CPUs.
func cpuTime(t *testing.T) time.Duration {
	var u unix.Rusage
	require.NoError(t, unix.Getrusage(unix.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A ring ends a sleep that has no other end, and one that comes before it is heard.
func TestBellEndsASleep(t *testing.T) {
	w := NewWorker(1)
	var came atomic.Bool
	b := create(t, w, func(me *Thread) {
		for range 200 {
			came.Store(false)
			time.AfterFunc(50*time.Microsecond, func() {
				came.Store(true)
				w.Bell().Ring()
			})
			for !came.Load() {
				me.Wait()
			}
		}
	}).Bit()
	w.Poll = func() bool {
		if came.Load() {
			b.Set()
		}
		return came.Load()
	}
	w.longest = 0 // for ever
	require.NoError(t, w.Run())
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package fult

import (
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asMany requires that there are no more goroutines than before. One that has said its
// last word is counted until it has ended.
func asMany(t *testing.T, before int) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); runtime.NumGoroutine() > before && time.Now().Before(limit); {
		time.Sleep(time.Millisecond)
	}
	assert.LessOrEqual(t, runtime.NumGoroutine(), before)
}

// create makes a thread or ends the test.
func create(t testing.TB, w *Worker, run func(*Thread)) *Thread {
	thread, err := w.Create(run)
	require.NoError(t, err)
	return thread
}

func TestThreadsRunInOrderAndTakeTurns(t *testing.T) {
	w := NewWorker(200)
	var ran []int
	for range 200 {
		create(t, w, func(me *Thread) {
			assert.Same(t, me, w.Current())
			ran = append(ran, me.ID())
			me.Yield()
			ran = append(ran, me.ID())
		})
	}
	require.NoError(t, w.Run())
	require.Len(t, ran, 400)
	for i, id := range ran {
		assert.Equal(t, i%200, id)
	}
	assert.Nil(t, w.Current())
}

func TestThreadsWakeOneAnother(t *testing.T) {
	const rounds = 1000
	w := NewWorker(2)
	var turn int
	var threads [2]*Thread
	for me := range threads {
		threads[me] = create(t, w, func(self *Thread) {
			other := threads[1-me].Bit()
			for range rounds {
				for turn%2 != me {
					self.Wait()
				}
				turn++
				other.Set()
			}
		})
	}
	require.NoError(t, w.Run())
	assert.Equal(t, 2*rounds, turn)
}

func TestNumbersAreUsedAgain(t *testing.T) {
	w := NewWorker(3)
	ran := 0
	create(t, w, func(me *Thread) {
		for range 100 {
			first := create(t, w, func(*Thread) { ran++ })
			create(t, w, func(*Thread) { ran++ })
			_, err := w.Create(func(*Thread) {})
			assert.ErrorIs(t, err, ErrFull)
			assert.ErrorContains(t, err, "3 threads")
			late := first.Bit()
			me.Yield()
			late.Set() // nobody has this bit now
			me.Yield()
		}
	})
	require.NoError(t, w.Run())
	assert.Equal(t, 200, ran)
}

func TestPanicEndsTheRunAndUnwindsTheOthers(t *testing.T) {
	before := runtime.NumGoroutine()
	w := NewWorker(1000)
	unwound := 0
	for i := range 1000 {
		create(t, w, func(me *Thread) {
			defer func() { unwound++ }()
			if me.Yield(); i == 700 {
				panic(io.ErrUnexpectedEOF)
			}
			for {
				me.Wait()
			}
		})
	}
	err := w.Run()
	require.EqualError(t, err, "fult: thread 700 panicked: unexpected EOF")
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	var p *PanicError
	require.ErrorAs(t, err, &p)
	assert.Contains(t, string(p.Stack), "TestPanicEndsTheRunAndUnwindsTheOthers")
	assert.Equal(t, 1000, unwound)
	asMany(t, before)
}

func TestStopUnwindsThoseLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	w := NewWorker(101)
	unwound := 0
	for range 100 {
		create(t, w, func(me *Thread) {
			defer func() {
				unwound++
				me.Wait() // a deferred call that waits is unwound as well
				unwound += 1000
			}()
			for {
				me.Wait()
			}
		})
	}
	create(t, w, func(*Thread) { w.Stop() })
	require.NoError(t, w.Run())
	assert.Equal(t, 100, unwound)
	asMany(t, before)
}

func TestPanicOfAThreadThatIsUnwoundIsTold(t *testing.T) {
	w := NewWorker(2)
	create(t, w, func(me *Thread) {
		defer func() { panic("late") }()
		me.Wait()
	})
	create(t, w, func(*Thread) { w.Stop() })
	assert.EqualError(t, w.Run(), "fult: thread 0 panicked: late")
}

func TestGoexitEndsTheRun(t *testing.T) {
	before := runtime.NumGoroutine()
	w := NewWorker(10)
	unwound := 0
	for i := range 10 {
		create(t, w, func(me *Thread) {
			defer func() { unwound++ }()
			if me.Yield(); i == 4 {
				runtime.Goexit() // what t.FailNow does
			}
			for {
				me.Wait()
			}
		})
	}
	ended := make(chan bool)
	returned := false
	go func() {
		defer close(ended)
		_ = w.Run()
		returned = true
	}()
	<-ended
	assert.False(t, returned)
	assert.ErrorContains(t, w.err, "thread 4 called runtime.Goexit")
	assert.Equal(t, 10, unwound)
	asMany(t, before)
}

func TestWaitOfAnotherThreadIsRefused(t *testing.T) {
	w := NewWorker(2)
	first := create(t, w, func(*Thread) {})
	create(t, w, func(*Thread) { first.Wait() })
	first = create(t, NewWorker(1), func(*Thread) {})
	assert.ErrorContains(t, w.Run(), "Wait called for thread 0, which does not run")
}

func TestPin(t *testing.T) {
	w := NewWorker(1)
	w.Pin(1 << 9)
	create(t, w, func(*Thread) {})
	assert.ErrorContains(t, w.Run(), "pin a worker to CPU 512")
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/locks"
)

// shared are the models in which threads share a port.
func shared() []Model { return Models()[Global:] }

// number is a message of eight bytes.
func number(n int) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(n)) }

// until waits for what another goroutine is about to do.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); runtime.Gosched() {
		require.True(t, time.Now().Before(end), "no %s after a minute", what)
	}
}

// expect receives numbers on a port, in this order.
func expect(t *testing.T, p *Port, e Envelope, numbers ...int) {
	t.Helper()
	var buf [8]byte
	for _, n := range numbers {
		_, err := p.Recv(buf[:], e)
		require.NoError(t, err)
		require.Equal(t, n, int(binary.LittleEndian.Uint64(buf[:])))
	}
}

// More threads than CPUs send through one port and receive through another: short,
// eager and large messages, each once and in its thread's order.
func TestThreadsShareAPort(t *testing.T) {
	const threads, count, window = 6, 200, 8
	lengths := []int{8, 1000, 20000}
	for _, model := range shared() {
		t.Run(model.String(), func(t *testing.T) {
			f := fabric(t, Options{Ports: 2, Model: model, Ring: 16})
			var all sync.WaitGroup
			for tag := range int32(threads) {
				length := lengths[tag%3]
				all.Go(func() { sendNumbers(t, f.Port(0), Envelope{Peer: 1, Tag: tag}, length, count, window) })
				all.Go(func() { receiveNumbers(t, f.Port(1), Envelope{Peer: 0, Tag: tag}, length, count, window) })
			}
			all.Wait()
		})
	}
}

func sendNumbers(t *testing.T, p *Port, e Envelope, length, count, window int) {
	buf := make([]byte, length*window)
	for i := 0; i < count; i += window {
		requests := make([]Request, window)
		for j := range requests {
			data := buf[j*length:][:length]
			copy(data, pattern(length, byte(i+j)))
			var err error
			requests[j], err = p.Isend(data, e)
			assert.NoError(t, err)
		}
		assert.NoError(t, WaitAll(requests, nil))
	}
}

func receiveNumbers(t *testing.T, p *Port, e Envelope, length, count, window int) {
	buf := make([]byte, length*window)
	for i := 0; i < count; i += window {
		requests := make([]Request, window)
		for j := range requests {
			var err error
			requests[j], err = p.Irecv(buf[j*length:][:length], e)
			assert.NoError(t, err)
		}
		for j := len(requests) - 1; j >= 0; j-- { // asked after in another order, and by Test too
			status, done, err := requests[j].Test()
			if !done {
				status, err = requests[j].Wait()
			}
			assert.NoError(t, err)
			assert.Equal(t, length, status.Bytes)
		}
		for j := range requests {
			assert.True(t, bytes.Equal(pattern(length, byte(i+j)), buf[j*length:][:length]), "message %d of tag %d", i+j, e.Tag)
		}
	}
}

// Threads that cancel and probe on a port disturb neither one another nor those that
// receive on it.
func TestThreadsCancelAndProbe(t *testing.T) {
	const threads, count = 4, 100
	for _, model := range shared() {
		t.Run(model.String(), func(t *testing.T) {
			f := fabric(t, Options{Ports: 2, Model: model})
			var all sync.WaitGroup
			for tag := range int32(threads) {
				all.Go(func() { sendNumbers(t, f.Port(0), Envelope{Peer: 1, Tag: tag}, 8, count, 1) })
				all.Go(func() {
					p, e := f.Port(1), Envelope{Peer: 0, Tag: tag}
					for i := range count {
						r, err := p.Irecv(nil, Envelope{Context: 1, Peer: 0, Tag: tag})
						assert.NoError(t, err)
						s, err := p.Probe(e)
						assert.NoError(t, err)
						assert.Equal(t, Status{e, 8}, s)
						assert.NoError(t, r.Cancel())
						_, err = r.Wait()
						assert.ErrorIs(t, err, ErrCancelled)
						var buf [8]byte
						_, err = p.Recv(buf[:], e)
						assert.NoError(t, err)
						assert.Equal(t, pattern(8, byte(i)), buf[:])
					}
				})
			}
			all.Wait()
		})
	}
}

// While the owner of the inner half stands still, Isend returns in models LockQ,
// Offload and, as there is room, Concurrent, and waits in the others. All is executed in the end, in order.
func TestStalledOwner(t *testing.T) {
	const count = 100
	for _, model := range shared() {
		t.Run(model.String(), func(t *testing.T) {
			f := fabric(t, Options{Ports: 2, Model: model})
			p := f.Port(0)
			owner := p.enter()
			var requests [count]Request
			posted := make(chan bool)
			go func() {
				for i := range requests {
					requests[i], _ = p.Isend(number(i), Envelope{Peer: 1})
				}
				close(posted)
			}()
			goes, limit := model == LockQ || model == Offload || model == Concurrent, 100*time.Millisecond
			if goes {
				limit = time.Minute
			}
			select {
			case <-posted:
				assert.True(t, goes, "Isend returns though it should wait")
			case <-time.After(limit):
				assert.False(t, goes, "Isend waits for the owner")
			}
			p.leave(owner)
			<-posted
			require.NoError(t, WaitAll(requests[:], nil))
			for i := range count {
				expect(t, f.Port(1), Envelope{Peer: 0}, i)
			}
		})
	}
}

// A test that is repeated returns at once each time while the owner stands still, for a
// bounded number of times; then it waits for the owner.
func TestStalledOwnerAndTest(t *testing.T) {
	for _, model := range []Model{PerVNI, CSync, LockQ, Concurrent} {
		t.Run(model.String(), func(t *testing.T) {
			f := fabric(t, Options{Ports: 1, Model: model})
			p := f.Port(0)
			r, err := p.Irecv(make([]byte, 8), Envelope{})
			require.NoError(t, err)
			owner := p.enter()
			for range 200 { // fewer than the bound
				_, done, err := r.Test()
				require.NoError(t, err)
				require.False(t, done)
			}
			tested := make(chan bool)
			go func() {
				for range 1000 {
					_, done, _ := r.Test()
					assert.False(t, done)
				}
				close(tested)
			}()
			select {
			case <-tested:
				assert.Fail(t, "Test never waits for the owner")
			case <-time.After(50 * time.Millisecond):
			}
			p.leave(owner)
			<-tested
			require.NoError(t, r.Cancel())
		})
	}
}

// In model LockQ an owner executes MaxCombine ops that were left and no more. Its
// own goes behind the rest, so that order is kept.
func TestLockQMaxCombine(t *testing.T) {
	const rest = 5
	f := fabric(t, Options{Ports: 2, Model: LockQ, Ring: 4096})
	p := f.Port(0)
	owner := p.enter()
	var requests []Request
	post := func() {
		r, err := p.Isend(number(len(requests)), Envelope{Peer: 1})
		require.NoError(t, err)
		requests = append(requests, r)
	}
	for range locks.MaxCombine + rest {
		post()
	}
	p.leave(owner)
	post() // the first to have the lock since
	executed := 0
	for _, r := range requests {
		if r.done() {
			executed++
		}
	}
	assert.Equal(t, locks.MaxCombine, executed)
	assert.False(t, requests[len(requests)-1].done(), "its own")
	require.NoError(t, WaitAll(requests, nil))
	for i := range requests {
		expect(t, f.Port(1), Envelope{Peer: 0}, i)
	}
}

// Close executes what was left in the queue and never asked after, and ends the
// threads of model Offload.
func TestCloseExecutesWhatWasLeft(t *testing.T) {
	for _, model := range []Model{LockQ, Offload} {
		before := runtime.NumGoroutine()
		f := fabric(t, Options{Ports: 2, Model: model})
		p := f.Port(0)
		owner := p.enter()
		var requests []Request
		for i := range 3 {
			r, err := p.Isend(number(i), Envelope{Peer: 1})
			require.NoError(t, err)
			requests = append(requests, r)
		}
		assert.False(t, requests[2].done())
		p.leave(owner)
		require.NoError(t, f.Close())
		for i, r := range requests {
			assert.True(t, r.done(), "%v: send %d", model, i)
		}
		for limit := time.Now().Add(time.Minute); runtime.NumGoroutine() > before && time.Now().Before(limit); {
			time.Sleep(time.Millisecond) // one that has said its last word is counted until it has ended
		}
		assert.LessOrEqual(t, runtime.NumGoroutine(), before, "%v", model)
	}
}

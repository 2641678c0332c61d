// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// startAll starts one operation of each kind on port 0, for each size, with cookies from 0 on, and returns how many. Port 1 only has
// to make progress, and to receive.
func startAll(t *testing.T, a *Port, c Completion, key Key, lengths []int) (count uint64) {
	into := func() Starter { count++; return a.Into(c, count-1) }
	for i, n := range lengths {
		e := Envelope{Context: uint32(i), Peer: 1}
		buf := make([]byte, n)
		for _, err := range []error{
			into().Recv(buf, e),
			into().Send(pattern(n, 1), e),
			into().Invoke(pattern(n, 1), e),
			into().Put(key, 0, pattern(n, 1)),
			into().PutSignal(key, 0, pattern(n, 1), 0, 0),
			into().Get(key, 0, make([]byte, n)),
			into().FetchAdd(key, 0, 1, nil),
			into().CompareSwap(key, 0, 1, 2, nil),
		} {
			require.NoError(t, err)
		}
	}
	return count
}

// echo has port 1 send back what port 0 sends.
func echo(t *testing.T, b *Port, lengths []int) {
	for i, n := range lengths {
		e, buf := Envelope{Context: uint32(i)}, make([]byte, n)
		_, err := b.Recv(buf, e)
		assert.NoError(t, err)
		assert.NoError(t, b.Send(buf, e))
	}
}

var completionSizes = []int{8, 100, 20_000}

// Every operation ends once, well, and where it was to end.
func TestCompletions(t *testing.T) {
	eachPair(t, Options{Handlers: []Handler{func(*Port, Envelope, []byte) {}}}, func(t *testing.T, a, b *Port) {
		key := register(t, b, make([]byte, 20_000)).Key()
		var lock sync.Mutex
		var seen map[uint64]int
		var total atomic.Uint64
		note := func(e End) {
			lock.Lock()
			defer lock.Unlock()
			assert.NoError(t, e.Err)
			seen[e.Cookie]++
			if kind := e.Cookie % 8; kind < 2 { // a receive and a send: the status is that of their requests
				i := e.Cookie / 8
				assert.Equal(t, Status{Envelope: Envelope{Context: uint32(i), Peer: 1}, Bytes: completionSizes[i]}, e.Status)
			}
			total.Add(1)
		}
		queue, counter := NewQueue(100), new(Counter)
		for name, c := range map[string]Completion{"queue": queue, "counter": counter, "handler": EndHandler(func(p *Port, e End) {
			assert.Equal(t, a, p)
			note(e)
		})} {
			seen = map[uint64]int{}
			total.Store(0)
			count := startAll(t, a, c, key, completionSizes)
			var over atomic.Bool
			var peer sync.WaitGroup
			peer.Go(func() { echo(t, b, completionSizes); await(t, b, "end of the test", over.Load) })
			switch name {
			case "queue":
				for range count {
					e, err := queue.Wait(a)
					require.NoError(t, err)
					note(e)
				}
				_, more := queue.Take()
				assert.False(t, more)
			case "counter":
				require.NoError(t, counter.Wait(a, count))
				assert.Equal(t, count, counter.Count())
			default:
				await(t, a, "end", func() bool { return total.Load() == count })
			}
			over.Store(true)
			peer.Wait()
			if name != "counter" {
				for cookie := range count {
					assert.Equal(t, 1, seen[cookie], "%s: end of %d", name, cookie)
				}
			}
		}
	})
}

// A queue has a place for each operation under way and each end, and refuses more. An operation that was not
// started takes none.
func TestQueueIsFull(t *testing.T) {
	eachPair(t, Options{}, func(t *testing.T, a, b *Port) {
		q := NewQueue(2)
		key := register(t, b, make([]byte, 8)).Key()
		require.NoError(t, a.Into(q, 1).Recv(nil, Envelope{Peer: 1}))
		require.ErrorContains(t, a.Into(q, 2).Put(key, 1, make([]byte, 8)), "8 bytes at offset 1")
		require.ErrorContains(t, a.Into(q, 2).Send(nil, Envelope{Peer: 2}), "ports 0 to 1")
		require.ErrorContains(t, a.Into(q, 2).Invoke(nil, Envelope{Peer: 1}), "no handler 0")
		require.NoError(t, a.Into(q, 2).Send(nil, Envelope{Peer: 1}))
		require.ErrorIs(t, a.Into(q, 3).Send(nil, Envelope{Peer: 1}), ErrFull)
		require.ErrorIs(t, a.Into(q, 3).Put(key, 0, nil), ErrFull)
		e, err := q.Wait(a)
		require.NoError(t, err)
		assert.EqualValues(t, 2, e.Cookie)
		require.NoError(t, a.Into(q, 3).Recv(nil, Envelope{Peer: 1, Tag: 1}))
		require.ErrorIs(t, a.Into(q, 4).Send(nil, Envelope{Peer: 1}), ErrFull)
		require.NoError(t, b.Send(nil, Envelope{Tag: 1}))
		e, err = q.Wait(a)
		require.NoError(t, err)
		assert.EqualValues(t, 3, e.Cookie)
	})
}

// An operation that ends with an error says so where it ends; a counter keeps the first.
func TestCompletionsOfErrors(t *testing.T) {
	eachPair(t, Options{}, func(t *testing.T, a, b *Port) {
		q, c := NewQueue(2), new(Counter)
		require.NoError(t, a.Into(q, 7).Recv(nil, Envelope{Peer: 1}))
		require.NoError(t, a.Into(c, 0).Recv(nil, Envelope{Peer: 1, Tag: 1}))
		require.NoError(t, a.Into(c, 0).Recv(nil, Envelope{Peer: 1, Tag: 2}))
		for tag := range int32(3) {
			require.NoError(t, b.Send(make([]byte, 2-tag), Envelope{Tag: tag}))
		}
		e, err := q.Wait(a)
		require.NoError(t, err)
		assert.Equal(t, End{Cookie: 7, Status: Status{Envelope: Envelope{Peer: 1}}, Err: ErrTruncated}, e)
		require.ErrorIs(t, c.Wait(a, 2), ErrTruncated)
		require.NoError(t, a.fabric.Close())
		_, err = q.Wait(a)
		require.ErrorIs(t, err, ErrClosed)
		require.ErrorIs(t, c.Wait(a, 3), ErrClosed)
		require.ErrorIs(t, a.Into(q, 0).Send(nil, Envelope{Peer: 1}), ErrClosed)
	})
}

// Operations that wait for a process that has ended do end.
func TestCompletionsGone(t *testing.T) {
	testsupport.NothingLeft(t)
	for i := range len(Models()) * len(ways) {
		model, by := Models()[i/len(ways)], ways[i%len(ways)]
		t.Run(model.String()+"/"+string(by), func(t *testing.T) {
			f := spanning(t, Options{Model: model}, by, 1, 1)
			a, b := f[0].Port(0), f[1].Port(1)
			key := register(t, b, make([]byte, 8)).Key()
			if model == Offload {
				require.NoError(t, f[1].Close()) // its thread would serve the get
			}
			q := NewQueue(4)
			require.NoError(t, a.Into(q, 0).Recv(nil, Envelope{Peer: 1}))
			require.NoError(t, a.Into(q, 1).Send(make([]byte, 1<<20), Envelope{Peer: 1}))
			require.NoError(t, a.Into(q, 2).Get(key, 0, make([]byte, 8)))
			time.AfterFunc(10*time.Millisecond, func() { f[1].Close(); f[1].options.Carrier.Close() })
			for range 3 {
				e, err := q.Wait(a)
				require.NoError(t, err)
				assert.ErrorIs(t, e.Err, ErrPeerGone, "operation %d", e.Cookie)
			}
		})
	}
}

// Threads that share ports share a queue, too: each end is taken once.
func TestThreadsShareAQueue(t *testing.T) {
	const threads, count = 4, 400
	for _, model := range shared() {
		t.Run(model.String(), func(t *testing.T) {
			f := fabric(t, Options{Ports: 2, Model: model, Ring: 16})
			q := NewQueue(16)
			var taken [threads * count]atomic.Uint32
			var all sync.WaitGroup
			for thread := range threads {
				all.Go(func() {
					for i := range count {
						e := Envelope{Peer: 1, Tag: int32(thread)}
						r, err := f.Port(1).Irecv(make([]byte, 100), Envelope{Tag: e.Tag})
						assert.NoError(t, err)
						for f.Port(0).Into(q, uint64(thread*count+i)).Send(make([]byte, 100), e) != nil {
							f.Port(0).Progress()
						}
						end, err := q.Wait(f.Port(0))
						assert.NoError(t, err)
						taken[end.Cookie].Add(1)
						_, err = r.Wait()
						assert.NoError(t, err)
					}
				})
			}
			all.Wait()
			for i := range taken {
				require.EqualValues(t, 1, taken[i].Load(), "end %d", i)
			}
		})
	}
}

// No end allocates memory.
func TestCompletionsAllocateNothing(t *testing.T) {
	each(t, Options{Ports: 2}, func(t *testing.T, f *Fabric) {
		a, b, q := f.Port(0), f.Port(1), NewQueue(4)
		key, into, buf := register(t, b, make([]byte, 8)).Key(), make([]byte, 100), make([]byte, 100)
		assert.Zero(t, testing.AllocsPerRun(20, func() {
			err1 := b.Into(q, 0).Recv(into, Envelope{})
			err2 := a.Into(q, 1).Send(buf, Envelope{Peer: 1})
			err3 := a.Into(q, 2).Put(key, 0, buf[:8])
			for n := 0; n < 3; {
				a.Progress()
				b.Progress()
				for _, found := q.Take(); found; _, found = q.Take() {
					n++
				}
			}
			if err1 != nil || err2 != nil || err3 != nil {
				t.Fatal(err1, err2, err3)
			}
		}))
	})
}

// A receive that waits to announce itself ends with a small message. The sends around it, which wait for room too, arrive.
func TestEndOfAReceiveAmongWaitingSends(t *testing.T) {
	each(t, Options{Ports: 2, Unique: true, Ring: 8}, func(t *testing.T, f *Fabric) {
		const sends, before = 20, 12 // more than the peer has room for
		a, b := f.Port(0), f.Port(1)
		ends := NewQueue(sends + 1)
		buf := make([]byte, 100_000)
		for i := range sends {
			if i == before {
				require.NoError(t, b.Into(ends, sends).Recv(buf, Envelope{Tag: sends}))
			}
			require.NoError(t, b.Into(ends, uint64(i)).Send([]byte{byte(i)}, Envelope{Tag: int32(i)}))
		}
		require.NoError(t, a.Send([]byte("small"), Envelope{Peer: 1, Tag: sends}))
		b.Progress()
		got := make([][1]byte, sends)
		for i := range got {
			r, err := a.Irecv(got[i][:], Envelope{Peer: 1, Tag: int32(i)})
			require.NoError(t, err)
			for range 10 {
				a.Progress()
				b.Progress()
			}
			_, done, err := r.Test()
			require.NoError(t, err)
			require.True(t, done, "message %d", i)
			require.Equal(t, byte(i), got[i][0])
		}
		seen := map[uint64]int{}
		for range sends + 1 {
			e, err := ends.Wait(b) // the thread of another model may have to note it yet
			require.NoError(t, err)
			require.NoError(t, e.Err)
			seen[e.Cookie]++
		}
		require.Len(t, seen, sends+1, "each has ended once")
		require.Equal(t, "small", string(buf[:5]))
	})
}

// The end of an access tells how many bytes of the region it was about, in this process or another.
func TestBytesOfAccesses(t *testing.T) {
	eachPair(t, Options{Handlers: []Handler{func(*Port, Envelope, []byte) {}}}, func(t *testing.T, a, b *Port) {
		key := register(t, b, make([]byte, 100_000)).Key()
		stop := attend(t, b)
		defer stop()
		ends := NewQueue(1)
		for _, n := range []int{0, 8, 100, 100_000} {
			for name, start := range map[string]func(s Starter) error{
				"put":    func(s Starter) error { return s.Put(key, 0, make([]byte, n)) },
				"signal": func(s Starter) error { return s.PutSignal(key, 0, make([]byte, n), 0, 7) },
				"get":    func(s Starter) error { return s.Get(key, 0, make([]byte, n)) },
			} {
				require.NoError(t, start(a.Into(ends, 5)))
				e, err := ends.Wait(a)
				require.NoError(t, err)
				assert.Equal(t, n, e.Bytes, "%s of %d bytes", name, n)
			}
		}
	})
}

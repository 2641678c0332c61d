// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/fult"
	"github.com/tpsl/tpsl/endpoints/engine/match"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// invoked are active messages as handlers saw them.
type invoked struct {
	lock sync.Mutex
	got  []active
}

type active struct {
	Envelope
	port int
	data []byte
}

func (l *invoked) handle(p *Port, e Envelope, data []byte) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.got = append(l.got, active{e, p.Rank(), append([]byte{}, data...)})
}

func (l *invoked) count() int {
	l.lock.Lock()
	defer l.lock.Unlock()
	return len(l.got)
}

// await makes progress on a port until something is so, for a minute at most.
func await(t *testing.T, p *Port, what string, is func() bool) {
	t.Helper()
	end := time.Now().Add(time.Minute)
	assert.NoError(t, p.Await(func() bool { return is() || time.Now().After(end) }))
	assert.True(t, is(), "no %s after a minute", what)
}

// eachPair runs a test over two ports with these handlers: in one process and over each
// carrier, with every model and matcher.
func eachPair(t *testing.T, o Options, run func(t *testing.T, a, b *Port)) {
	testsupport.NothingLeft(t)
	for _, model := range Models() {
		for _, matcher := range match.Kinds {
			for _, by := range append([]way{"process"}, ways...) {
				t.Run(fmt.Sprintf("%s/%s/%s", model, matcher, by), func(t *testing.T) {
					o := o
					o.Model, o.Matcher = model, matcher
					if by == "process" {
						o.Ports = 2
						f := fabric(t, o)
						run(t, f.Port(0), f.Port(1))
						return
					}
					f := spanning(t, o, by, 1, 1)
					run(t, f[0].Port(0), f[1].Port(1))
				})
			}
		}
	}
}

// patterns makes messages of these sizes in turn, each with a content of its own. To make them takes longer than to send them.
func patterns(count int, sizes []int) (all [][]byte) {
	for i := range count {
		all = append(all, pattern(sizes[i%len(sizes)], byte(i)))
	}
	return all
}

// activeSizes are around what decides how an active message travels.
var activeSizes = []int{0, 1, 40, 41, 8192, 8193, 20_000, MaxInvoke}

// Each size comes once, with its envelope, in the order sent, also if so many are under way that no packet
// and no room is left; and the senders' requests end.
func TestActiveMessages(t *testing.T) {
	const rounds = 5
	messages := patterns(rounds*len(activeSizes), activeSizes)
	var seen *invoked
	o := Options{Ring: 8, Packets: 2, Handlers: []Handler{nil, func(p *Port, e Envelope, data []byte) { seen.handle(p, e, data) }}}
	eachPair(t, o, func(t *testing.T, a, b *Port) {
		seen = new(invoked)
		poll(b) // the thread of model Offload has it: the race detector does not see how messages come by memory that nodes share
		sent := make(chan error, 1)
		go func() {
			var requests []Request
			for i, data := range messages {
				r, err := a.Invoke(data, Envelope{Context: uint32(i), Peer: 1, Tag: 1})
				if err != nil {
					sent <- err
				}
				requests = append(requests, r)
			}
			statuses := make([]Status, len(requests))
			err := WaitAll(requests, statuses)
			assert.Equal(t, Status{Envelope{Context: uint32(len(messages) - 1), Peer: 1, Tag: 1}, MaxInvoke}, statuses[len(statuses)-1])
			sent <- err
		}()
		await(t, b, "message", func() bool { return seen.count() == len(messages) })
		require.NoError(t, <-sent)
		for i, m := range seen.got {
			require.Equal(t, Envelope{Context: uint32(i), Peer: 0, Tag: 1}, m.Envelope)
			require.Equal(t, 1, m.port)
			require.Equal(t, messages[i], m.data, "message %d", i)
		}
	})
}

// A handler sends: a token goes back and forth between handlers only.
func TestHandlersSend(t *testing.T) {
	const rounds = 100
	var got [2]atomic.Int64
	handlers := []Handler{func(p *Port, e Envelope, data []byte) {
		if n := got[p.Rank()].Add(1); n < rounds || p.Rank() == 1 {
			_, err := p.Invoke(data, e)
			assert.NoError(t, err)
		}
	}}
	eachPair(t, Options{Handlers: handlers}, func(t *testing.T, a, b *Port) {
		got[0].Store(0)
		got[1].Store(0)
		_, err := a.Invoke([]byte("token"), Envelope{Peer: 1})
		require.NoError(t, err)
		var both sync.WaitGroup
		both.Go(func() { await(t, b, "token", func() bool { return got[1].Load() == rounds }) })
		await(t, a, "token", func() bool { return got[0].Load() == rounds })
		both.Wait()
	})
}

// When a handler runs, what its sender sent earlier has arrived, whatever its size.
func TestActiveMessagesComeAfterTaggedOnes(t *testing.T) {
	const count = 100
	messages := patterns(count, sizes)
	var ran atomic.Int64
	handlers := []Handler{func(p *Port, e Envelope, _ []byte) {
		n := ran.Add(1)
		s, found, err := p.Iprobe(Envelope{Context: e.Context, Peer: 0, Tag: 5})
		assert.NoError(t, err)
		assert.True(t, found, "message %d", n)
		assert.Equal(t, sizes[int(e.Context)%len(sizes)], s.Bytes)
	}}
	eachPair(t, Options{Handlers: handlers}, func(t *testing.T, a, b *Port) {
		ran.Store(0)
		sent := make(chan error, 1)
		go func() {
			var requests []Request
			for i, data := range messages {
				r, _ := a.Isend(data, Envelope{Context: uint32(i), Peer: 1, Tag: 5})
				s, err := a.Invoke(nil, Envelope{Context: uint32(i), Peer: 1})
				if err != nil {
					sent <- err
				}
				requests = append(requests, r, s)
			}
			sent <- WaitAll(requests, nil)
		}()
		await(t, b, "message", func() bool { return ran.Load() == count })
		buf := make([]byte, 1<<20)
		for i := range uint32(count) {
			_, err := b.Recv(buf, Envelope{Context: i, Peer: 0, Tag: 5})
			require.NoError(t, err)
		}
		require.NoError(t, <-sent)
	})
}

// No receive takes an active message, whatever it leaves open.
func TestReceivesTakeNoActiveMessage(t *testing.T) {
	var ran atomic.Int64
	handlers := []Handler{func(*Port, Envelope, []byte) { ran.Add(1) }}
	eachPair(t, Options{Handlers: handlers}, func(t *testing.T, a, b *Port) {
		ran.Store(0)
		_, err := a.Invoke([]byte("active"), Envelope{Peer: 1})
		require.NoError(t, err)
		require.NoError(t, a.Send([]byte("tagged"), Envelope{Peer: 1, Tag: 3}))
		buf := make([]byte, 10)
		s, err := b.Recv(buf, Envelope{Peer: AnySource, Tag: AnyTag})
		require.NoError(t, err)
		assert.Equal(t, "tagged", string(buf[:s.Bytes]))
		await(t, b, "handler", func() bool { return ran.Load() == 1 })
	})
}

// What cannot be invoked is told at once.
func TestInvokeIsChecked(t *testing.T) {
	f := fabric(t, Options{Ports: 2, Handlers: []Handler{nil, func(*Port, Envelope, []byte) {}}})
	p := f.Port(1)
	for tag, want := range map[int32]string{
		0:  "port 1: there is no handler 0: Options.Handlers has 2",
		2:  "port 1: there is no handler 2: Options.Handlers has 2",
		-1: "port 1: peer 0, tag -1: the fabric has ports 0 to 1, and tags start at 0",
	} {
		_, err := p.Invoke(nil, Envelope{Tag: tag})
		assert.EqualError(t, err, want)
	}
	_, err := p.Invoke(nil, Envelope{Peer: 2, Tag: 1})
	assert.ErrorContains(t, err, "the fabric has ports 0 to 1")
	_, err = p.Invoke(make([]byte, MaxInvoke+1), Envelope{Tag: 1})
	assert.EqualError(t, err, "port 1: 1048577 bytes for handler 1: an active message has at most 1048576; put them and signal")
	require.NoError(t, f.Close())
	_, err = p.Invoke(nil, Envelope{Tag: 1})
	assert.ErrorIs(t, err, ErrClosed)
}

// A handler that panics, or that only the sender has, ends the call of the thread that makes progress with
// a panic that names the handler and who invoked it. Who recovers can go on: the next handler runs.
func TestPanicInHandler(t *testing.T) {
	ran := 0
	panics := []Handler{func(*Port, Envelope, []byte) { panic("boom") }, func(*Port, Envelope, []byte) { ran++ }}
	for _, model := range Models() {
		if model == Offload {
			continue // nobody but the port's own thread could recover
		}
		p := fabric(t, Options{Ports: 1, Model: model, Handlers: panics}).Port(0)
		_, err := p.Invoke(nil, Envelope{})
		require.NoError(t, err)
		assert.PanicsWithValue(t, "port 0: handler 0, invoked by port 0: boom", func() { p.Progress() }, "%v", model)
		ran = 0
		_, err = p.Invoke(nil, Envelope{Tag: 1})
		require.NoError(t, err)
		require.NoError(t, p.Await(func() bool { return ran == 1 }), "%v", model)
	}
	testsupport.NothingLeft(t)
	f := spanning(t, Options{Handlers: panics}, byMemory, 1, 1)
	f[1].options.Handlers = nil
	_, err := f[0].Port(0).Invoke(nil, Envelope{Peer: 1})
	require.NoError(t, err)
	assert.PanicsWithValue(t, "port 1: port 0 invokes handler 0, which is not here: give all processes the same Options.Handlers",
		func() { f[1].Port(1).Progress() })
}

// Threads invoke by one port, and make progress on the other. The handlers run one at a time, as a plain
// number shows to the race detector, and in the order of each thread.
func TestHandlersRunOneAtATime(t *testing.T) {
	const threads, count = 4, 300
	for _, model := range shared() {
		t.Run(model.String(), func(t *testing.T) {
			var plain int
			var inside atomic.Bool
			var total atomic.Int64
			next := [threads]byte{}
			f := fabric(t, Options{Ports: 2, Model: model, Ring: 16, Packets: 4, Handlers: []Handler{func(_ *Port, e Envelope, data []byte) {
				assert.True(t, inside.CompareAndSwap(false, true), "two handlers at once")
				runtime.Gosched()
				plain++
				total.Add(1)
				assert.Equal(t, next[e.Context], data[0])
				next[e.Context]++
				inside.Store(false)
			}}})
			var all sync.WaitGroup
			for thread := range uint32(threads) {
				all.Go(func() {
					var requests []Request
					for i := range count {
						r, err := f.Port(0).Invoke(pattern([]int{8, 100, 10_000}[i%3], byte(i)), Envelope{Context: thread, Peer: 1})
						assert.NoError(t, err)
						requests = append(requests, r)
					}
					assert.NoError(t, WaitAll(requests, nil))
				})
				all.Go(func() { await(t, f.Port(1), "message", func() bool { return total.Load() == threads*count }) })
			}
			all.Wait()
			assert.Equal(t, threads*count, plain)
		})
	}
}

// User-level threads invoke, and await what handlers do, while their workers poll.
func TestThreadsOfWorkersInvoke(t *testing.T) {
	const threads, count = 20, 30
	var ran atomic.Int64
	f := fabric(t, Options{Ports: 2, Handlers: []Handler{func(*Port, Envelope, []byte) { ran.Add(1) }}})
	workers := make([]*fult.Worker, 2)
	for i := range workers {
		workers[i] = fult.NewWorker(threads)
		f.Port(i).Attach(workers[i])
		for k := range threads {
			create(t, workers[i], func(*fult.Thread) {
				p := f.Port(i)
				for range count {
					r, err := p.Invoke(make([]byte, []int{8, 1000, 20_000}[k%3]), Envelope{Peer: int32(1 - i)})
					assert.NoError(t, err)
					_, err = r.Wait()
					assert.NoError(t, err)
				}
				await(t, p, "message", func() bool { return ran.Load() == 2*threads*count })
			})
		}
	}
	runAll(t, workers)
}

// An active message whose sender has cancelled it runs nothing, and keeps nobody.
func TestCancelActiveMessage(t *testing.T) {
	var seen *invoked
	each(t, Options{Ports: 2, Handlers: []Handler{func(p *Port, e Envelope, data []byte) { seen.handle(p, e, data) }}}, func(t *testing.T, f *Fabric) {
		if f.options.Model == Offload {
			return // the port's own thread runs it when it will
		}
		seen = new(invoked)
		a, b := f.Port(0), f.Port(1)
		r, err := a.Invoke(make([]byte, 100_000), Envelope{Peer: 1})
		require.NoError(t, err)
		require.NoError(t, r.Cancel())
		_, err = r.Wait()
		require.ErrorIs(t, err, ErrCancelled)
		_, err = a.Invoke([]byte("next"), Envelope{Peer: 1})
		require.NoError(t, err)
		await(t, b, "message", func() bool { return seen.count() == 1 })
		assert.Equal(t, "next", string(seen.got[0].data))
	})
}

// No active message allocates memory, but for those that a carrier only offers.
func TestActiveMessagesAllocateNothing(t *testing.T) {
	var ran atomic.Int64
	o := Options{Handlers: []Handler{func(*Port, Envelope, []byte) { ran.Add(1) }}}
	eachPair(t, o, func(t *testing.T, a, b *Port) {
		limit := 8192
		if b.fabric == a.fabric {
			limit = MaxInvoke
		}
		for _, size := range activeSizes {
			if size > limit {
				continue
			}
			data := make([]byte, size)
			assert.Zero(t, testing.AllocsPerRun(20, func() {
				before := ran.Load()
				r, err := a.Invoke(data, Envelope{Peer: 1})
				for ran.Load() == before {
					b.Progress()
					a.Progress()
				}
				if _, ended := r.Wait(); err != nil || ended != nil {
					t.Fatal(err, ended)
				}
			}), "%d bytes", size)
		}
	})
}

// A carrier hears that active messages are taken: more come than a port keeps for a process.
func TestActiveMessagesGiveBackTheWindow(t *testing.T) {
	testsupport.NothingLeft(t)
	const count = 40_000
	for _, by := range ways {
		var ran atomic.Int64
		f := spanning(t, Options{Handlers: []Handler{func(*Port, Envelope, []byte) { ran.Add(1) }}}, by, 1, 1)
		sent := make(chan error, 1)
		go func() {
			var err error
			for range count {
				r, refused := f[0].Port(0).Invoke(nil, Envelope{Peer: 1})
				_, ended := r.Wait()
				err = errors.Join(err, refused, ended)
			}
			sent <- err
		}()
		await(t, f[1].Port(1), "message", func() bool { return ran.Load() == count })
		if ran.Load() < count {
			return // the sender waits
		}
		require.NoError(t, <-sent)
	}
}

// Where envelopes are unique, large active messages need no receive either.
func TestActiveMessagesOfUniqueEnvelopes(t *testing.T) {
	var seen *invoked
	each(t, Options{Ports: 2, Unique: true, Handlers: []Handler{func(p *Port, e Envelope, data []byte) { seen.handle(p, e, data) }}}, func(t *testing.T, f *Fabric) {
		seen = new(invoked)
		r, err := f.Port(0).Invoke(pattern(100_000, 3), Envelope{Peer: 1})
		require.NoError(t, err)
		await(t, f.Port(1), "message", func() bool { return seen.count() == 1 })
		_, err = r.Wait()
		require.NoError(t, err)
		assert.Equal(t, pattern(100_000, 3), seen.got[0].data)
	})
}

// What a peer has sent before it left still runs its handler, and whoever invokes there hears that it is
// gone.
func TestInvokeGone(t *testing.T) {
	var seen *invoked
	o := Options{Handlers: []Handler{func(p *Port, e Envelope, data []byte) { seen.handle(p, e, data) }}}
	testsupport.NothingLeft(t)
	for i := range len(Models()) * len(ways) {
		model, by := Models()[i/len(ways)], ways[i%len(ways)]
		t.Run(model.String()+"/"+string(by), func(t *testing.T) {
			seen = new(invoked)
			o.Model = model
			f := spanning(t, o, by, 1, 1)
			a, b := f[0].Port(0), f[1].Port(1)
			_, err := b.Invoke([]byte("last words"), Envelope{})
			require.NoError(t, err)
			require.NoError(t, f[1].Close())
			require.NoError(t, f[1].options.Carrier.Close())
			await(t, a, "message", func() bool { return seen.count() == 1 })
			_, err = a.Probe(Envelope{Peer: 1})
			require.ErrorIs(t, err, ErrPeerGone)
			r, err := a.Invoke(make([]byte, 100), Envelope{Peer: 1})
			require.NoError(t, err)
			_, err = r.Wait()
			require.ErrorIs(t, err, ErrPeerGone)
			require.ErrorContains(t, err, "rank 1 is gone")
		})
	}
}

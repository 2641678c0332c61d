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

	"github.com/tpsl/tpsl/endpoints/engine/match"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// A thread that posts a receive finds a large message whose arrival is not over: the owner of the inner half has put it
// into the table, and still keeps its sender from cancelling it. The receive waits for that moment, and has the message.
func TestReceiveFindsAMessageThatIsArriving(t *testing.T) {
	f := fabric(t, Options{Ports: 2, Model: Concurrent, Eager: 100})
	data := pattern(1000, 1)
	sent, err := f.Port(0).Isend(data, Envelope{Peer: 1})
	require.NoError(t, err)

	p := f.Port(1)
	owner := p.enter()
	c := p.inbox.Front()
	require.True(t, p.take(c))
	a := p.stand(c)
	a.hold(c)
	require.Equal(t, match.None, p.matcher.Arrive(a.index))

	buf, received := make([]byte, 1000), make(chan Request)
	go func() {
		r, err := p.Irecv(buf, Envelope{Peer: 0})
		assert.NoError(t, err)
		received <- r
	}()
	until(t, "match", func() bool {
		i, _ := p.matcher.Probe(Envelope{Peer: 0}, nil)
		return i == match.None
	})
	p.keep(a, c)
	p.untake(c)
	p.inbox.Pop()
	p.leave(owner)
	r := <-received
	require.True(t, r.done(), "the message is lost")
	_, err = r.Wait()
	require.NoError(t, err)
	assert.Equal(t, data, buf)
	_, err = sent.Wait()
	assert.NoError(t, err)
}

// An op that another thread takes for a moment, again and again, and then leaves pending is still to be had: whoever
// took that for its end would lose the message.
func TestTakeOutlastsOthers(t *testing.T) {
	f := fabric(t, Options{Ports: 1, Model: Concurrent})
	o := f.Port(0).ops.get()
	var stop atomic.Bool
	var other sync.WaitGroup
	other.Go(func() {
		for !stop.Load() {
			if o.take(o.turn) {
				o.decide(o.turn, pending)
			}
		}
	})
	for i := range 1_000_000 {
		if !o.take(o.turn) {
			t.Errorf("after %d takes: the op is pending, and cannot be had", i)
			break
		}
		o.decide(o.turn, pending)
	}
	stop.Store(true)
	other.Wait()
}

// Receives that wait side by side, more than the table has room for at first, each get the message of their envelope.
// Meanwhile another thread takes the messages in as they come.
func TestTableGrowsBesideItsUsers(t *testing.T) {
	const threads, each = 4, 1000
	for range 4 {
		f := fabric(t, Options{Ports: 2, Model: Concurrent})
		p := f.Port(1)
		bufs := make([][each][8]byte, threads)
		requests := make([][each]Request, threads)
		var posting, all sync.WaitGroup
		for g := range threads {
			posting.Go(func() {
				for i := range each {
					var err error
					requests[g][i], err = p.Irecv(bufs[g][i][:], Envelope{Peer: 0, Tag: int32(g*each + i)})
					assert.NoError(t, err)
				}
			})
		}
		all.Go(func() {
			for i := range threads * each {
				assert.NoError(t, f.Port(0).Send(number(i), Envelope{Peer: 1, Tag: int32(i)}))
			}
		})
		var posted atomic.Bool
		all.Go(func() {
			for !posted.Load() {
				p.Progress()
			}
		})
		posting.Wait()
		posted.Store(true)
		for i := range threads * each {
			until(t, "message", func() bool {
				_, done, err := requests[i/each][i%each].Test()
				require.NoError(t, err)
				return done
			})
			require.Equal(t, number(i), bufs[i/each][i%each][:])
		}
		all.Wait()
	}
}

// A receive from another process does not wait for a stalled owner, either.
func TestFarReceiveBesideAStalledOwner(t *testing.T) {
	testsupport.NothingLeft(t)
	f := spanning(t, Options{Model: Concurrent}, byMemory, 1, 1)
	p, buf := f[0].Port(0), make([]byte, 8)
	owner := p.enter()
	posted := make(chan Request)
	go func() {
		r, err := p.Irecv(buf, Envelope{Peer: 1})
		assert.NoError(t, err)
		posted <- r
	}()
	select {
	case r := <-posted:
		p.leave(owner)
		require.NoError(t, f[1].Port(1).Send(number(7), Envelope{}))
		_, err := r.Wait()
		require.NoError(t, err)
		assert.Equal(t, number(7), buf)
	case <-time.After(time.Minute):
		t.Fatal("Irecv waits for the owner")
	}
}

// Threads of a port post receives while their source ends. What that has sent arrives, in order; all other receives end.
func TestGoneBesideThreads(t *testing.T) {
	testsupport.NothingLeft(t)
	const threads, each = 4, 200
	for i := range len(shared()) * len(ways) {
		model, by := shared()[i/len(ways)], ways[i%len(ways)]
		t.Run(model.String()+"/"+string(by), func(t *testing.T) {
			f := spanning(t, Options{Model: model}, by, 1, 1)
			p, source := f[0].Port(0), f[1].Port(1)
			var all sync.WaitGroup
			for g := range int32(threads) {
				all.Go(func() {
					for i := 0; ; i++ {
						buf := make([]byte, 8)
						_, err := p.Recv(buf, Envelope{Peer: 1, Tag: g})
						if err != nil {
							assert.ErrorIs(t, err, ErrPeerGone)
							assert.Equal(t, each, i, "messages of thread %d", g)
							return
						}
						if !assert.Equal(t, number(i), buf) {
							return
						}
					}
				})
			}
			for i := range each {
				for g := range int32(threads) {
					require.NoError(t, source.Send(number(i), Envelope{Tag: g}))
				}
			}
			require.NoError(t, f[1].Close())
			require.NoError(t, f[1].options.Carrier.Close())
			all.Wait()
		})
	}
}

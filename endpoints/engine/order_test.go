// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/match"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// Several threads send and receive at random, and cancel, in every model; afterwards MPI's two rules of order must hold between
// all that each of them received. Where threads may share a port, two do, each in contexts of its own, for which alone there is an order.
// TPSL_TEST_LARGE=1 has ten times as many rounds.
func TestOrderAmongThreads(t *testing.T) {
	const ports = 3
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, model := range Models() {
		threads := 2
		if model == Private {
			threads = 1
		}
		t.Run(model.String(), func(t *testing.T) {
			for round := range testsupport.Times(2, 20) {
				f := fabric(t, Options{Ports: ports, Model: model, Ring: 8, Eager: 100, Packets: 4, Halves: 1000, Matcher: match.Kind(round % 2)})
				logs := make([]*traffic, ports*threads)
				var missing atomic.Int64
				missing.Add(int64(len(logs))) // each until it has sent all
				var all sync.WaitGroup
				for i := range logs {
					random := rand.New(rand.NewPCG(seed, uint64(round*10+i)))
					logs[i] = &traffic{t: t, p: f.Port(i % ports), context: uint32(i / ports * 2), random: random, missing: &missing, sent: make([][]*sending, ports)}
					all.Go(logs[i].run)
				}
				all.Wait()
				for i, to := range logs {
					for _, from := range logs[i/ports*ports:][:ports] {
						checkOrder(t, to.received, from.sent[i%ports])
					}
				}
			}
		})
	}
}

// A traffic is what one thread does on a port, and what it has seen.
type traffic struct {
	t        *testing.T
	p        *Port
	context  uint32 // the first of two, which no other thread of the port has
	random   *rand.Rand
	missing  *atomic.Int64 // messages that were sent and not received, of all ports
	sent     [][]*sending  // by destination
	received []*receiving
}

type sending struct {
	Request
	e     Envelope // with the source
	buf   []byte
	ended bool
	by    int // which of the destination's receives got it; -1 if none
}

type receiving struct {
	Request
	e       Envelope
	buf     [2000]byte
	ended   bool
	from    int32 // what it got: the message seq of port from; -1 if nothing
	message int
}

func (l *traffic) run() {
	for range 400 {
		switch n := l.random.IntN(20); {
		case n < 8:
			l.send()
		case n < 15:
			e := Envelope{
				Context: l.context + uint32(l.random.IntN(2)),
				Peer:    int32(l.random.IntN(4)) - 1,
				Tag:     int32(l.random.IntN(4)) - 1,
			}
			if l.random.IntN(4) == 0 {
				l.receiveSome(e)
			} else {
				l.receive(e)
			}
		case n < 19:
			l.cancel()
		default:
			l.hold()
		}
		switch l.random.IntN(6) { // a test takes part in what the port does: some posts come in a row
		case 0:
			l.test()
		case 1:
			runtime.Gosched()
		}
	}
	l.missing.Add(-1)
	var rest [2]*receiving // takes what is left
	for l.missing.Load() > 0 {
		for context, r := range rest {
			if r == nil || r.ended {
				rest[context] = l.receive(Envelope{Context: l.context + uint32(context), Peer: AnySource, Tag: AnyTag})
			}
		}
		l.test()
		runtime.Gosched()
	}
	for _, r := range l.received {
		if !r.ended {
			assert.NoError(l.t, r.Cancel())
		}
	}
	l.test()
}

// send sends one message, or some of one length at once.
func (l *traffic) send() {
	to := l.random.IntN(len(l.sent))
	e := Envelope{Context: l.context + uint32(l.random.IntN(2)), Peer: int32(to), Tag: int32(l.random.IntN(3))}
	count, length := 1, []int{8, 40, 60, 200, 1500}[l.random.IntN(5)]
	if l.random.IntN(4) == 0 {
		count = 3 + l.random.IntN(5)
	}
	var bufs [][]byte
	for i := range count {
		bufs = append(bufs, make([]byte, length))
		binary.LittleEndian.PutUint64(bufs[i], uint64(len(l.sent[to])+i))
	}
	l.missing.Add(int64(count))
	requests := make([]Request, count)
	if count == 1 {
		requests[0], _ = l.p.Isend(bufs[0], e)
	} else {
		assert.NoError(l.t, l.p.IsendAll(bufs, e, requests))
	}
	e.Peer = l.p.rank
	for i, r := range requests {
		l.sent[to] = append(l.sent[to], &sending{Request: r, e: e, by: -1, buf: bufs[i]})
	}
}

// receive posts one receive, and returns it.
func (l *traffic) receive(e Envelope) *receiving {
	r := &receiving{e: e, from: -1}
	r.Request, _ = l.p.Irecv(r.buf[:], e)
	l.received = append(l.received, r)
	return r
}

// receiveSome posts some receives at once.
func (l *traffic) receiveSome(e Envelope) {
	var some []*receiving
	var bufs [][]byte
	for i := range 3 + l.random.IntN(5) {
		some = append(some, &receiving{e: e, from: -1})
		bufs = append(bufs, some[i].buf[:])
	}
	requests := make([]Request, len(bufs))
	assert.NoError(l.t, l.p.IrecvAll(bufs, e, requests))
	for i, r := range some {
		r.Request = requests[i]
	}
	l.received = append(l.received, some...)
}

// cancel cancels something that may be done by now.
func (l *traffic) cancel() {
	to := l.sent[l.random.IntN(len(l.sent))]
	if n := len(to); n > 0 && !to[n-1].ended {
		assert.NoError(l.t, to[n-1].Cancel())
	}
	if n := len(l.received); n > 0 && l.random.IntN(2) == 0 && !l.received[n-1].ended {
		assert.NoError(l.t, l.received[n-1].Cancel())
	}
}

// hold owns the inner half of a port for some time, so that the port's threads leave ops, or wait.
func (l *traffic) hold() {
	if l.p.model == Private {
		return
	}
	e := l.p.enter()
	for range l.random.IntN(20) {
		runtime.Gosched()
	}
	l.p.leave(e)
}

// test looks at all that is not done.
func (l *traffic) test() {
	for _, r := range l.received {
		if r.ended {
			continue
		}
		s, done, err := r.Test()
		r.ended = done
		if done && !errors.Is(err, ErrCancelled) {
			require.NoError(l.t, err)
			r.from, r.message = s.Peer, int(binary.LittleEndian.Uint64(r.buf[:]))
			l.missing.Add(-1)
		}
	}
	for _, to := range l.sent {
		for _, s := range to {
			if s.ended {
				continue
			}
			_, done, err := s.Test()
			s.ended = done
			if errors.Is(err, ErrCancelled) {
				l.missing.Add(-1)
			}
		}
	}
}

// checkOrder checks a port's receives, in the order posted, against the messages of one
// port to it, in the order sent.
func checkOrder(t *testing.T, received []*receiving, sent []*sending) {
	for i, r := range received {
		if r.from < 0 || len(sent) == 0 || r.from != sent[0].e.Peer {
			continue
		}
		m := sent[r.message]
		require.Equal(t, -1, m.by, "message %d came twice", r.message)
		require.True(t, r.e.Takes(m.e), "%v does not take %v", r.e, m.e)
		m.by = i
		for _, before := range received[:i] {
			if before.from == r.from && before.e.Takes(m.e) {
				require.Less(t, before.message, r.message, "a receive posted earlier got a later message")
			}
		}
	}
	for i, m := range sent {
		if m.by < 0 {
			continue
		}
		for _, earlier := range sent[:i] {
			if earlier.by >= 0 && received[m.by].e.Takes(earlier.e) {
				require.Less(t, earlier.by, m.by, "a message was overtaken")
			}
		}
	}
}

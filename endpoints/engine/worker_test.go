// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/fult"
)

// attached makes a fabric whose ports each have a worker.
func attached(t *testing.T, ports, threads int) (*Fabric, []*fult.Worker) {
	f := fabric(t, Options{Ports: ports})
	workers := make([]*fult.Worker, ports)
	for i := range workers {
		workers[i] = fult.NewWorker(threads)
		f.Port(i).Attach(workers[i])
	}
	return f, workers
}

// create makes a thread or ends the test.
func create(t *testing.T, w *fult.Worker, run func(*fult.Thread)) {
	_, err := w.Create(run)
	require.NoError(t, err)
}

// runAll runs workers, each on an OS thread.
func runAll(t *testing.T, workers []*fult.Worker) {
	limit := time.AfterFunc(2*time.Minute, func() { panic("no end in time") })
	defer limit.Stop()
	var all sync.WaitGroup
	for _, w := range workers {
		all.Go(func() { assert.NoError(t, w.Run()) })
	}
	all.Wait()
}

// Threads of two workers, and of one, talk in pairs by their port, each pair by its tag:
// sizes of all protocols, with Recv, with WaitAny.
func TestThreadsOfWorkersTalk(t *testing.T) {
	const pairs, rounds = 300, 10
	sizes := []int{8, 100, 4096, 20_000, 300_000}
	for name, ports := range map[string]int{"one worker": 1, "two workers": 2} {
		t.Run(name, func(t *testing.T) {
			f, workers := attached(t, ports, 2*pairs)
			for pair := range pairs {
				for side := range 2 {
					rank := side % ports
					create(t, workers[rank], func(*fult.Thread) {
						talk(t, f.Port(rank), side, pair, (side+1)%2%ports, rounds, sizes[pair%len(sizes)])
					})
				}
			}
			runAll(t, workers)
		})
	}
}

// talk is one side of a pair: side 0 counts up, side 1 sends back what it gets.
func talk(t *testing.T, p *Port, side, pair, peer, rounds, size int) {
	mine := Envelope{Peer: int32(peer), Tag: int32(2*pair + side)}
	out := Envelope{Peer: int32(peer), Tag: int32(2*pair + 1 - side)}
	buf, requests := make([]byte, size), make([]Request, 2)
	for round := range uint64(rounds) {
		if side == 0 {
			binary.LittleEndian.PutUint64(buf, round)
			if !assert.NoError(t, p.Send(buf, out)) {
				return
			}
			clear(buf)
		}
		r, err := p.Irecv(buf, mine)
		if !assert.NoError(t, err) {
			return
		}
		requests[1] = r
		if i, s, err := WaitAny(requests); !assert.NoError(t, err) || !assert.Equal(t, 1, i) || !assert.Equal(t, size, s.Bytes) {
			return
		}
		if !assert.Equal(t, round, binary.LittleEndian.Uint64(buf)) {
			return
		}
		if side == 1 {
			if !assert.NoError(t, p.Send(buf, out)) {
				return
			}
		}
	}
}

// A message wakes a worker whose threads all wait, though it would sleep for ever else.
func TestMessageWakesAWorker(t *testing.T) {
	const rounds = 300
	f := fabric(t, Options{Ports: 2})
	w := fult.NewWorker(1)
	f.Port(1).Attach(w)
	sleepForEver(w)
	create(t, w, func(*fult.Thread) {
		for range rounds {
			_, err := f.Port(1).Recv(nil, Envelope{})
			assert.NoError(t, err)
			assert.NoError(t, f.Port(1).Send(nil, Envelope{}))
		}
	})
	var all sync.WaitGroup
	all.Go(func() {
		for range rounds {
			time.Sleep(100 * time.Microsecond) // it falls asleep after 20
			assert.NoError(t, f.Port(0).Send(nil, Envelope{Peer: 1}))
			_, err := f.Port(0).Recv(nil, Envelope{Peer: 1})
			assert.NoError(t, err)
		}
	})
	runAll(t, []*fult.Worker{w})
	all.Wait()
}

// Threads that wait as the fabric is closed hear of it, whatever they wait by.
func TestCloseEndsWaitsOfThreads(t *testing.T) {
	const threads = 100
	f, workers := attached(t, 1, threads)
	begun := 0
	for i := range threads {
		create(t, workers[0], func(*fult.Thread) {
			p, e := f.Port(0), Envelope{Tag: int32(i)}
			if begun++; begun == threads { // all others wait
				time.AfterFunc(50*time.Millisecond, func() { _ = f.Close() })
			}
			if i%2 == 0 {
				_, err := p.Recv(nil, e)
				assert.ErrorIs(t, err, ErrClosed)
				return
			}
			r, err := p.Irecv(nil, e)
			if err == nil {
				_, _, err = WaitAny([]Request{r})
			}
			assert.ErrorIs(t, err, ErrClosed)
		})
	}
	runAll(t, workers)
}

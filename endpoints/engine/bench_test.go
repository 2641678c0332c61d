// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine/match"
)

// pinned runs f on an OS thread of its own, bound to a CPU.
func pinned(cpu int, f func()) {
	runtime.LockOSThread() // never unlocked: the thread ends with its goroutine
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		panic(err)
	}
	f()
}

// pair runs two halves, each the same number of rounds at a time, on threads bound to
// CPUs 0 and 1. It reports the time of half a round: the fastest of the runs of rounds,
// for the others of this machine are not what is measured.
func pair(b *testing.B, rounds int, first, second func(rounds int)) float64 {
	var all sync.WaitGroup
	runs := max(b.N/rounds, 1)
	best := time.Duration(math.MaxInt64)
	all.Go(func() {
		pinned(1, func() {
			for range runs {
				second(rounds)
			}
		})
	})
	all.Go(func() {
		pinned(0, func() {
			for range runs {
				start := time.Now()
				first(rounds)
				best = min(best, time.Since(start))
			}
		})
	})
	all.Wait()
	half := float64(best.Nanoseconds()) / float64(rounds) / 2
	b.ReportMetric(half, "ns/half")
	return half
}

// The bare hand-over of a cache line, there and back: what nothing can beat.
func BenchmarkHandOver(b *testing.B) {
	var line [16]atomic.Uint64
	turn := func(next uint64) func(int) {
		return func(rounds int) {
			for range rounds {
				for line[8].Load() != next {
				}
				line[8].Store(next + 1)
				next += 2
			}
		}
	}
	pair(b, 1000, turn(0), turn(1))
}

// side returns one half of a ping-pong between ports 0 and 1.
func side(b *testing.B, f *Fabric, rank int32, buf []byte) func(int) {
	p, e := f.Port(int(rank)), Envelope{Peer: 1 - rank, Tag: 3}
	return func(rounds int) {
		for i := range 2 * rounds {
			var err error
			if i&1 == int(rank) {
				err = p.Send(buf, e)
			} else {
				_, err = p.Recv(buf, e)
			}
			if err != nil {
				b.Error(err)
				return
			}
		}
	}
}

// Two ports on two threads send 8 bytes back and forth.
func BenchmarkPingPong(b *testing.B) {
	for name, o := range map[string]Options{"table": {}, "queues": {Matcher: match.TwoQueues}, "global": {Model: Global}} {
		b.Run(name, func(b *testing.B) {
			o.Ports = 2
			f := fabric(b, o)
			pair(b, 1000, side(b, f, 0, make([]byte, 8)), side(b, f, 1, make([]byte, 8)))
		})
	}
}

// A port sends 8 bytes to itself: what a message costs without another thread, by
// blocking calls and by requests.
func BenchmarkSelf(b *testing.B) {
	b.Run("blocking", func(b *testing.B) {
		p := fabric(b, Options{Ports: 1}).Port(0)
		var buf [8]byte
		for b.Loop() {
			if p.Send(buf[:], Envelope{}) != nil {
				b.Fatal()
			}
			if _, err := p.Recv(buf[:], Envelope{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, kind := range match.Kinds {
		b.Run("requests/matcher="+kind.String(), func(b *testing.B) {
			p := fabric(b, Options{Ports: 1, Matcher: kind}).Port(0)
			var buf [8]byte
			for b.Loop() {
				r, err1 := p.Irecv(buf[:], Envelope{})
				s, err2 := p.Isend(buf[:], Envelope{})
				_, err3 := r.Wait()
				_, err4 := s.Wait()
				if err1 != nil || err2 != nil || err3 != nil || err4 != nil {
					b.Fatal(err1, err2, err3, err4)
				}
			}
		})
	}
}

// Half a round trip of 4 MiB: by a bare memcpy between the same two threads, which hand
// each other a flag; by a message that one side copies, and by one that both do.
func BenchmarkLarge(b *testing.B) {
	const size, rounds = 4 << 20, 4
	bufs := [2][]byte{make([]byte, size), make([]byte, size)}
	report := func(b *testing.B, ns float64) { b.ReportMetric(size/ns, "GB/s") }
	b.Run("memcpy", func(b *testing.B) {
		var flag atomic.Uint64
		turn := func(self int) func(int) {
			next := uint64(self)
			return func(rounds int) {
				for range rounds {
					for flag.Load() != next {
					}
					copy(bufs[self], bufs[1-self])
					flag.Store(next + 1)
					next += 2
				}
			}
		}
		report(b, pair(b, rounds, turn(0), turn(1)))
	})
	for name, halves := range map[string]int{"one": -1, "both": 1} {
		b.Run(name, func(b *testing.B) {
			f := fabric(b, Options{Ports: 2, Halves: halves})
			report(b, pair(b, rounds, side(b, f, 0, bufs[0]), side(b, f, 1, bufs[1])))
		})
	}
}

// One thread's messages to itself on a port that more threads might use: what each
// model costs where nobody contends. The models take turns, in short batches; the
// figure is the fastest batch, for others of this machine interrupt longer ones.
func BenchmarkModels(b *testing.B) {
	const batch = 200
	var turns [len(modelNames)]func()
	var best [len(modelNames)]time.Duration
	for _, m := range Models() {
		p, buf, e := fabric(b, Options{Ports: 1, Model: m}).Port(0), make([]byte, 8), Envelope{}
		best[m] = math.MaxInt64
		turns[m] = func() {
			r, err := p.Irecv(buf, e)
			if err != nil {
				b.Fatal(err)
			}
			s, err := p.Isend(buf, e)
			if err != nil {
				b.Fatal(err)
			}
			for _, r := range [...]Request{r, s} {
				if _, err := r.Wait(); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	for range max(b.N/batch, 1) {
		for m, turn := range turns {
			start := time.Now()
			for range batch {
				turn()
			}
			best[m] = min(best[m], time.Since(start))
		}
	}
	for m, took := range best {
		b.ReportMetric(float64(took.Nanoseconds())/batch, "ns/"+modelNames[m])
	}
}

// What it takes to wait for any of so many receives under way: by requests, and by a queue.
func BenchmarkAny(b *testing.B) {
	for _, pending := range []int{10, 100, 1000, 10000} {
		b.Run(fmt.Sprintf("by=WaitAny/pending=%d", pending), func(b *testing.B) {
			from, to := anyPorts(b)
			requests := make([]Request, pending)
			for i := range requests {
				requests[i], _ = to.Irecv(nil, Envelope{Tag: int32(i)})
			}
			for n := 0; b.Loop(); n++ {
				tag := int32(n * 7919 % pending)
				require.NoError(b, from.Send(nil, Envelope{Peer: 1, Tag: tag}))
				i, s, err := WaitAny(requests)
				if err != nil || s.Tag != tag {
					b.Fatal(s.Tag, tag, err)
				}
				requests[i], _ = to.Irecv(nil, Envelope{Tag: tag})
			}
		})
		b.Run(fmt.Sprintf("by=Queue/pending=%d", pending), func(b *testing.B) {
			from, to := anyPorts(b)
			q := NewQueue(pending)
			for i := range pending {
				require.NoError(b, to.Into(q, uint64(i)).Recv(nil, Envelope{Tag: int32(i)}))
			}
			for n := 0; b.Loop(); n++ {
				tag := int32(n * 7919 % pending)
				require.NoError(b, from.Send(nil, Envelope{Peer: 1, Tag: tag}))
				e, err := q.Wait(to)
				if err != nil || e.Tag != tag || e.Cookie != uint64(tag) {
					b.Fatal(e, tag, err)
				}
				require.NoError(b, to.Into(q, e.Cookie).Recv(nil, Envelope{Tag: tag}))
			}
		})
	}
}

func anyPorts(b *testing.B) (from, to *Port) {
	f, err := New(Options{Ports: 2})
	require.NoError(b, err)
	b.Cleanup(func() { f.Close() })
	return f.Port(0), f.Port(1)
}

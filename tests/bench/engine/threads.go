// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/endpoints/engine/fult"
	"github.com/tpsl/tpsl/tests/bench/report"
)

// Who talks to whom: threads in a ring pass one message round; or each of the first half exchanges
// messages with its partner in the second, all pairs at once.
var shapes = []string{"ring", "pairs"}

func init() {
	goals := []report.Goal{}
	var sides []string
	add := func(side, what string) {
		sides = append(sides, side)
		goals = append(goals,
			report.Goal{What: what + ", 10^6 threads/10^3", Name: side + "/threads=1000000", Base: side + "/threads=1000", AtMost: 4},
			report.Goal{What: what + ", 10^6 threads", Name: side + "/threads=1000000"})
	}
	for _, shape := range shapes {
		add("Threads/by=switch/cores=1/shape="+shape, "signal and switch, "+shape)
		add("Threads/by=messages/cores=1/shape="+shape, "message, "+shape)
	}
	add("Threads/by=messages/cores=2/shape=pairs", "message from core to core, pairs")
	add("Threads/by=messages/cores=2/between=processes/shape=pairs", "message from process to process, pairs")
	goals = append(goals, report.Goal{What: "memory of a thread of 10^6", Name: "ThreadMemory/by=switch/cores=1/shape=ring/threads=1000000"},
		report.Goal{What: "memory of a thread of 10^6, with a message", Name: "ThreadMemory/by=messages/cores=1/shape=ring/threads=1000000"})
	register(bench{
		name:  "Threads",
		about: "time of a message, and the memory of a thread, by how many user-level threads there are",
		limit: 3 * time.Minute,
		sides: func(p plan) []string {
			if len(p.cores) < 2 {
				return slices.DeleteFunc(slices.Clone(sides), func(side string) bool { return strings.Contains(side, "/cores=2") })
			}
			return sides
		},
		measure: measureThreads,
		goals:   goals,
	})
}

// measureThreads keeps the garbage collector out: 10^6 stacks are a second's work for it.
func measureThreads(m *meter) error {
	debug.SetGCPercent(-1)
	if part := os.Getenv(partVariable); part != "" {
		return m.secondPart(part)
	}
	counts := []int{1000, 10_000, 100_000, 1_000_000}
	if m.quick {
		counts = []int{1000, 1_000_000}
	}
	for _, n := range counts {
		debug.FreeOSMemory()
		before := resident()
		c := &crowd{n: n, rounds: max(5, 400_000/n), shape: m.side.Get("shape")}
		if err := c.run(m); err != nil {
			return err
		}
		threads := fmt.Sprintf("threads=%d", n)
		m.print(n*c.rounds, nanosecondsOf(c.round(), n), "ns/msg", threads)
		m.printAs("ThreadMemory", 1, float64(c.memory-before)/float64(n), "B", threads)
	}
	return nil
}

// A crowd is threads that talk, each sending so many messages that count. One more before, in which
// threads are made, and one after, so that the end of threads does not count either, do not.
type crowd struct {
	n, rounds int
	shape     string
	workers   []*fult.Worker // by port; nil: another process's

	count  int         // messages of the first worker in this round
	ends   []time.Time // of rounds, on average: nobody waits for them
	memory int64
	err    error
}

// run makes the threads and has them talk to the end.
func (c *crowd) run(m *meter) error {
	cores := 1
	if m.side.Get("cores") == "2" {
		cores = 2
	}
	c.workers = make([]*fult.Worker, cores)
	if m.side.Get("between") == "processes" {
		return c.withSecondPart(m)
	}
	var own []*fult.Worker
	for i := range c.workers {
		own = append(own, c.worker(m, i))
	}
	var err error
	if m.side.Get("by") == "switch" {
		err = c.bySignals()
	} else {
		err = c.byMessages(engine.Options{Ports: cores})
	}
	if err != nil {
		return err
	}
	return c.talkAll(own)
}

// worker makes the worker of a port.
func (c *crowd) worker(m *meter, port int) *fult.Worker {
	w := fult.NewWorker(c.n)
	w.Pin(m.cores[port])
	c.workers[port] = w
	return w
}

// talkAll runs the workers of this process.
func (c *crowd) talkAll(own []*fult.Worker) error {
	runtime.GOMAXPROCS(len(own) + 1)
	if err := runWorkers(own); err != nil {
		return err
	}
	return c.err
}

// sent counts a message of the first worker.
func (c *crowd) sent() {
	if c.count++; c.count < c.n/len(c.workers) || len(c.ends) > c.rounds {
		return
	}
	c.count = 0
	if c.ends = append(c.ends, time.Now()); len(c.ends) > c.rounds {
		c.memory = resident()
	}
}

// round returns the median time of the rounds that count: in one of them others may have had the processor.
func (c *crowd) round() time.Duration {
	var took []time.Duration
	for i := range c.rounds {
		took = append(took, c.ends[i+1].Sub(c.ends[i]))
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// partner returns to whom thread i sends, and whether it begins.
func (c *crowd) partner(i int) (to int, begins bool) {
	if c.shape == "ring" {
		return (i + 1) % c.n, i == 0
	}
	return (i + c.n/2) % c.n, i < c.n/2
}

// port returns by which port thread i talks: partners do by different ones if there are two.
func (c *crowd) port(i int) int { return i * len(c.workers) / c.n }

// bySignals has a flag and a signal be the message.
func (c *crowd) bySignals() error {
	bits, flags := make([]fult.Bit, c.n), make([]bool, c.n)
	for i := range c.n {
		to, begins := c.partner(i)
		t, err := c.workers[0].Create(func(t *fult.Thread) {
			for round := range c.rounds + 2 {
				if !begins || round > 0 {
					for !flags[i] {
						t.Wait()
					}
					flags[i] = false
				}
				c.sent()
				flags[to] = true
				bits[to].Set()
			}
		})
		if err != nil {
			return err
		}
		bits[i] = t.Bit()
	}
	return nil
}

// byMessages has a port for each worker, and the receiver's number for a tag.
func (c *crowd) byMessages(o engine.Options) error {
	f, err := engine.New(o)
	if err != nil {
		return err
	}
	for port, w := range c.workers {
		if w != nil {
			f.Port(port).Attach(w)
		}
	}
	room := make([]byte, 8*c.n)
	for i := range c.n {
		w := c.workers[c.port(i)]
		if w == nil {
			continue
		}
		if _, err := w.Create(func(*fult.Thread) {
			if err := c.talk(f, i, room[8*i:8*i+8]); err != nil && c.err == nil {
				c.err = fmt.Errorf("thread %d: %w", i, err)
				_ = f.Close() // the others' wait ends
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

// talk is what thread i does.
func (c *crowd) talk(f *engine.Fabric, i int, buf []byte) error {
	p, first := f.Port(c.port(i)), c.port(i) == 0
	to, begins := c.partner(i)
	from := (i + c.n/2) % c.n
	if c.shape == "ring" {
		from = (i + c.n - 1) % c.n
	}
	out := engine.Envelope{Peer: int32(c.port(to)), Tag: int32(to)}
	in := engine.Envelope{Peer: int32(c.port(from)), Tag: int32(i)}
	for round := range c.rounds + 2 {
		if !begins || round > 0 {
			if err := c.receive(p, buf, in, from, round); err != nil {
				return err
			}
		}
		if first {
			c.sent()
		}
		stamp(buf, uint64(i)<<32|uint64(round))
		if err := p.Send(buf, out); err != nil {
			return err
		}
	}
	if begins { // its last answer is on the way
		return c.receive(p, buf, in, from, c.rounds+2)
	}
	return nil
}

// receive takes a message and checks who sent it, and when: one who begins is a round ahead.
func (c *crowd) receive(p *engine.Port, buf []byte, in engine.Envelope, from, round int) error {
	if _, err := p.Recv(buf, in); err != nil {
		return err
	}
	if _, begins := c.partner(int(in.Tag)); begins {
		round--
	}
	return stamped(buf, uint64(from)<<32|uint64(round))
}

// resident returns the bytes of memory that this process has.
func resident() int64 {
	var size, pages int64
	text, err := os.ReadFile("/proc/self/statm")
	if err == nil {
		_, _ = fmt.Sscan(string(text), &size, &pages)
	}
	return pages * int64(os.Getpagesize())
}

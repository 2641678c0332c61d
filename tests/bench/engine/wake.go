// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine/fult"
	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/turns"
)

func init() {
	by := func(how string, cores int) string { return fmt.Sprintf("Wake/by=%s/cores=%d", how, cores) }
	register(bench{
		name:  "Wake",
		about: "from a signal to the running of who waits, by what threads they are",
		limit: 20 * time.Second,
		sides: func(p plan) (sides []string) {
			for cores := 1; cores <= min(2, len(p.cores)); cores++ {
				sides = append(sides, by("fult", cores), by("channel", cores), by("cond", cores))
			}
			return sides
		},
		measure: measureWake,
		contests: func(p plan) []turns.Contest {
			return []turns.Contest{{Limit: 20 * time.Second, Sides: []turns.Side{{
				Env: []string{p.pair()}, Argv: []string{turns.Program("condvar", "gcc"), p.milliseconds()},
			}}}}
		},
		commands: [][]string{turns.CC("gcc", "condvar")},
		goals: []report.Goal{
			{What: "signal to run, fult/condition variable, one core", Name: by("fult", 1), Base: by("condvar", 1), AtMost: 0.2},
			{What: "signal to run, fult/condition variable, two cores", Name: by("fult", 2), Base: by("condvar", 2), AtMost: 0.2},
			{What: "signal to run, fult/goroutines by channels, one core", Name: by("fult", 1), Base: by("channel", 1)},
			{What: "signal to run, fult/goroutines by sync.Cond, one core", Name: by("fult", 1), Base: by("cond", 1)},
			{What: "signal to run, fult, one core", Name: by("fult", 1)},
		},
	})
}

// measureWake has two threads wake one another in turns.
func measureWake(m *meter) error {
	cores := 1
	if m.side.Get("cores") == "2" {
		cores = 2
	}
	handOver := map[string]func(cores, rounds int) error{"fult": m.fultTurns, "channel": channelTurns, "cond": condTurns}[m.side.Get("by")]
	rounds, took, err := m.repeat(func(rounds int) (time.Duration, error) {
		begin := time.Now()
		err := handOver(cores, rounds)
		return time.Since(begin), err
	})
	m.print(2*rounds, nanosecondsOf(took, 2*rounds), "ns")
	return err
}

// fultTurns has the two threads belong to one worker, or each to one of its own, on its core.
func (m *meter) fultTurns(cores, rounds int) error {
	workers := make([]*fult.Worker, cores)
	runtime.GOMAXPROCS(cores + 1)
	var turn atomic.Int64
	bits := make([]fult.Bit, 2)
	for me := range bits {
		w := workers[me%cores]
		if w == nil {
			w = fult.NewWorker(2)
			w.Pin(m.cores[me])
			workers[me%cores] = w
		}
		t, err := w.Create(func(t *fult.Thread) {
			for round := range int64(rounds) {
				for turn.Load() != 2*round+int64(me) {
					t.Wait()
				}
				turn.Add(1)
				bits[1-me].Set()
			}
		})
		if err != nil {
			return err
		}
		bits[me] = t.Bit()
	}
	return runWorkers(workers)
}

// runWorkers runs workers to their end.
func runWorkers(workers []*fult.Worker) error {
	errs := make(chan error, len(workers))
	for _, w := range workers {
		go func() { errs <- w.Run() }()
	}
	var first error
	for range workers {
		if err := <-errs; first == nil {
			first = err
		}
	}
	return first
}

func channelTurns(cores, rounds int) error {
	runtime.GOMAXPROCS(cores)
	there, back := make(chan int), make(chan int)
	go func() {
		for n := range there {
			back <- n + 1
		}
	}()
	defer close(there)
	for round := range rounds {
		there <- round
		if n := <-back; n != round+1 {
			return fmt.Errorf("round %d: %d came back", round, n)
		}
	}
	return nil
}

func condTurns(cores, rounds int) error {
	runtime.GOMAXPROCS(cores)
	var lock sync.Mutex
	woken := []*sync.Cond{sync.NewCond(&lock), sync.NewCond(&lock)}
	turn := 0
	var both sync.WaitGroup
	for me := range woken {
		both.Go(func() {
			lock.Lock()
			defer lock.Unlock()
			for range rounds {
				for turn != me {
					woken[me].Wait()
				}
				turn = 1 - me
				woken[turn].Signal()
			}
		})
	}
	both.Wait()
	return nil
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/tests/bench/report"
)

const latency = "Latency/mode=engine/between=threads/pairs=1"

func init() {
	register(bench{
		name:    "Latency",
		about:   "half a round trip of a pair of threads, by size and model",
		limit:   30 * time.Second,
		sides:   func(plan) []string { return withModels(latency) },
		measure: measureLatency,
		cores:   2,
		goals: []report.Goal{
			{What: "8 B latency, engine/flat MPICH", Name: latency + "/size=8", Base: "Latency/mode=flat/between=processes/pairs=1/size=8", AtMost: 0.5},
			{What: "8 B latency, engine", Name: latency + "/size=8"},
			{What: "cache line from core to core", Name: "HandOver"},
			{What: "8 B latency/a cache line's hand-over, each of the fastest batch", Name: "LatencyBest/size=8", Base: "HandOver", AtMost: 3},
			{What: "8 B latency, global/private", Name: latency + "/model=global/size=8", Base: latency + "/size=8"},
		},
	})
}

// measureLatency has two pinned threads send a message there and back.
func measureLatency(m *meter) error {
	for _, size := range m.sizes() {
		f, err := fabric(m.side, 2)
		if err != nil {
			return err
		}
		rounds, took, err := m.repeat(func(rounds int) (time.Duration, error) { return m.pingPong(f, size, rounds) })
		if err != nil {
			return err
		}
		m.print(2*rounds, microsecondsOf(took, 2*rounds), "us/msg", fmt.Sprintf("size=%d", size))
		if size == 8 && m.side.Get("model") == "" {
			if err := m.fastestOf(func(rounds int) (time.Duration, error) { return m.pingPong(f, size, rounds) }, "size=8"); err != nil {
				return err
			}
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// fastestOf prints half the round trip of the fastest batch, as limits.c of tests/bench/programs measures the
// hand-over of a cache line.
func (m *meter) fastestOf(toAndFro func(rounds int) (time.Duration, error), keys string) error {
	const tries, passes = 20, 1000
	least := time.Hour
	for range tries {
		took, err := toAndFro(passes)
		if err != nil {
			return err
		}
		least = min(least, took)
	}
	_, err := fmt.Fprintf(m.out, "BenchmarkLatencyBest/%s %d %.5g ns\n", keys, passes, nanosecondsOf(least, 2*passes))
	return err
}

// warm are rounds before those that count.
const warm = 20

func (m *meter) pingPong(f *engine.Fabric, size, rounds int) (took time.Duration, err error) {
	err = m.together(2, func(me int) error {
		passed, err := volley(f.Port(me), size, rounds)
		if me == 0 {
			took = passed
		}
		return err
	})
	return took, err
}

// volley is what port 0 or 1 of a pair does for so many rounds.
func volley(port *engine.Port, size, rounds int) (took time.Duration, err error) {
	me := port.Rank()
	e, buf := engine.Envelope{Peer: int32(1 - me)}, make([]byte, size)
	var begin time.Time
	for round := range uint64(warm + rounds) {
		if round == warm {
			begin = time.Now()
		}
		if me == 0 {
			stamp(buf, round)
			if err := port.Send(buf, e); err != nil {
				return 0, err
			}
		}
		if _, err := port.Recv(buf, e); err != nil {
			return 0, err
		}
		if me == 0 {
			if err := stamped(buf, ^round); err != nil {
				return 0, err
			}
			continue
		}
		if err := stamped(buf, round); err != nil {
			return 0, err
		}
		stamp(buf, ^round)
		if err := port.Send(buf, e); err != nil {
			return 0, err
		}
	}
	return time.Since(begin), nil
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/endpoints/engine/tcp"
	"github.com/tpsl/tpsl/tests/bench/report"
)

const byRails = "/mode=engine/between=namespaces/pairs=1/rails="

// Each cable carries so much.
const cableRate = "1gbit"

func init() {
	register(bench{
		name:    "Rails",
		about:   "bandwidth of a pair of processes in two network namespaces by one and by two cables of " + cableRate + "/s each",
		limit:   time.Minute,
		sides:   func(plan) []string { return []string{"Rails" + byRails + "1", "Rails" + byRails + "2"} },
		measure: measureRails,
		cores:   2,
		goals: []report.Goal{
			{What: "4 MiB bandwidth by two cables/one", Name: "Bandwidth" + byRails + "2" + large, Base: "Bandwidth" + byRails + "1" + large, AtLeast: 1.9},
		},
	})
}

// What goes by rails in a run: windows of messages, the first of which does not count.
const (
	railWindows = 5
	railSize    = 4 << 20
)

// measureRails measures with two processes, each in a network namespace of its own.
func measureRails(m *meter) error {
	rails, err := strconv.Atoi(m.side.Get("rails"))
	if err != nil || uint(rails-1) >= cables {
		return fmt.Errorf("%s: want 1 to %d rails", m.side, cables)
	}
	if m.side.Get("rank") == "" {
		return m.inNamespaces("tc qdisc add dev eth%d root tbf rate " + cableRate + " burst 128kb latency 20ms")
	}
	rank, err := strconv.Atoi(m.side.Get("rank"))
	if err != nil {
		return err
	}
	port, leave, err := m.partTCP(rank, rails, tcp.Options{})
	if err != nil {
		return err
	}
	took, err := railWindowsOf(port)
	if err == nil && rank == 0 {
		m.side.Keys = m.side.Keys[:len(m.side.Keys)-1] // but for the rank
		messages := (railWindows - 1) * ofLarge
		m.printAs("Bandwidth", messages, float64(railSize)/nanosecondsOf(took, messages), "GB/s", fmt.Sprintf("size=%d", railSize))
	}
	return errors.Join(err, leave())
}

// railWindowsOf sends or receives the windows, all of a window at once.
func railWindowsOf(p *engine.Port) (took time.Duration, err error) {
	out, in := make([]byte, railSize), make([]byte, ofLarge*railSize)
	s := stream{p: p, peer: engine.Envelope{Peer: int32(1 - p.Rank())}}
	var begin time.Time
	for round := range uint64(railWindows) {
		if round == 1 {
			begin = time.Now()
		}
		if p.Rank() == 0 {
			err = s.send(out, ofLarge, round)
		} else {
			err = s.receive(in, railSize, ofLarge, round)
		}
		if err != nil {
			return 0, err
		}
	}
	return time.Since(begin), nil
}

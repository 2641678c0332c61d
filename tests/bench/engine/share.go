// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/tests/bench/report"
)

func init() {
	register(bench{
		name:  "Share",
		about: "messages per second of threads that share a port at each end, by model, threads and size",
		limit: time.Minute,
		sides: func(p plan) (sides []string) {
			for _, model := range shared() {
				sides = append(sides, "Share/model="+model)
			}
			return sides
		},
		measure: measureShare,
		cores:   8,
		goals: []report.Goal{
			{What: "8 B messages of 4 threads over those of 1, global", Name: "Share/model=global/threads=4/size=8", Base: "Share/model=global/threads=1/size=8"},
		},
	})
}

// measureShare has so many threads share port 0 and send, and as many share port 1 and receive; each pair has its tag.
func measureShare(m *meter) error {
	sizes := []int{8, 64, 1024, 16384}
	if m.quick {
		sizes = sizes[:1]
	}
	for _, threads := range m.threads {
		for _, size := range sizes {
			f, err := fabric(m.side, 2)
			if err != nil {
				return err
			}
			rounds, took, err := m.repeat(func(rounds int) (time.Duration, error) { return m.pairs(f, threads, size, rounds) })
			if err != nil {
				return err
			}
			messages := rounds * window * threads
			m.print(messages, millionsOf(took, messages), "Mmsg/s", fmt.Sprintf("threads=%d", threads), fmt.Sprintf("size=%d", size))
			if err := f.Close(); err != nil {
				return err
			}
		}
	}
	return nil
}

// pairs sends windows between all pairs at once, and returns how long that took all of them.
func (m *meter) pairs(f *engine.Fabric, threads, size, rounds int) (time.Duration, error) {
	var begin time.Time
	began := newGate(2*threads, func() { begin = time.Now() })
	var end time.Time
	ended := newGate(2*threads, func() { end = time.Now() })
	err := m.together(2*threads, func(i int) error {
		side, pair := i%2, i/2
		e := engine.Envelope{Peer: int32(1 - side), Tag: int32(pair)}
		out, in := make([]byte, size), make([]byte, window*size)
		began.pass()
		for round := range uint64(rounds) {
			var err error
			if side == 0 {
				err = sendWindow(f.Port(0), out, window, round, e)
			} else {
				err = receiveWindow(f.Port(1), in, size, window, round, e)
			}
			if err != nil {
				_ = f.Close() // the others' wait ends
				return err
			}
		}
		ended.pass()
		return nil
	})
	return end.Sub(begin), err
}

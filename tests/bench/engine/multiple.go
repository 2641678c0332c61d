// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/tests/bench/report"
)

// The forms of the thesis on MPC (2014), of pairs of threads that send messages to and fro: all of a side share a port; those of one
// side do, and talk with a port each; each has a port. scripts/bench -multiple measures them for MPI.
var multipleForms = map[string]struct{ near, far bool }{ // who shares
	"single": {true, true},
	"multi":  {true, false},
	"full":   {false, false},
}

func init() {
	register(bench{
		name:    "Multiple",
		about:   "half a round trip of pairs of threads: those of both sides share a port (single), of one side (multi), or each has one (full), by model, threads and size",
		limit:   60 * time.Second,
		sides:   multipleSides,
		measure: measureMultiple,
		cores:   8,
		goals:   multipleGoals(),
	})
}

var multipleModels = []engine.Model{engine.Global, engine.PerVNI, engine.LockQ, engine.Concurrent}

func multipleSides(plan) []string {
	sides := []string{"Multiple/form=full"}
	for _, form := range []string{"single", "multi"} {
		for _, model := range multipleModels {
			sides = append(sides, fmt.Sprintf("Multiple/form=%s/model=%s", form, model))
		}
	}
	return sides
}

var multipleSizes = []int{8, 1 << 10, 64 << 10, 1 << 20}

func multipleGoals() (all []report.Goal) {
	for _, threads := range []int{2, 4} {
		for _, size := range multipleSizes {
			key := fmt.Sprintf("/threads=%d/size=%d", threads, size)
			for _, model := range multipleModels {
				of := func(form string) string { return fmt.Sprintf("Multiple/form=%s/model=%s%s", form, model, key) }
				what := fmt.Sprintf("%d B, %d pairs of threads, %s, ", size, threads, model)
				all = append(all,
					report.Goal{What: what + "single/full", Name: of("single"), Base: "Multiple/form=full" + key},
					report.Goal{What: what + "multi/full", Name: of("multi"), Base: "Multiple/form=full" + key})
			}
		}
	}
	return all
}

func measureMultiple(m *meter) error {
	form, ok := multipleForms[m.side.Get("form")]
	if !ok {
		return fmt.Errorf("%s: no such form", m.side)
	}
	sizes := multipleSizes
	if m.quick {
		sizes = sizes[:3]
	}
	for _, threads := range m.threads {
		if m.quick && threads > 4 {
			continue
		}
		for _, size := range sizes {
			f, err := fabric(m.side, 2*threads)
			if err != nil {
				return err
			}
			rounds, took, err := m.repeat(func(rounds int) (time.Duration, error) {
				var all []func() error
				for i := range threads {
					near, far := 0, threads
					if !form.near {
						near = i
					}
					if !form.far {
						far += i
					}
					all = append(all, asks(f.Port(near), far, i, size, rounds), answers(f.Port(far), near, i, size, rounds))
				}
				return alongside(all...)
			})
			if err != nil {
				return err
			}
			m.print(2*rounds*threads, microsecondsOf(took, 2*rounds), "us/msg", fmt.Sprintf("threads=%d", threads), fmt.Sprintf("size=%d", size))
			if err := f.Close(); err != nil {
				return err
			}
		}
	}
	return nil
}

// asks sends messages and compares the answers. Those of a pair have a tag of their own.
func asks(p *engine.Port, peer, tag, size, rounds int) func() error {
	buf, e := make([]byte, size), engine.Envelope{Peer: int32(peer), Tag: int32(tag)}
	return func() error {
		for round := range uint64(rounds) {
			round |= uint64(tag) << 48 // no message of another pair has it
			stamp(buf, round)
			if err := p.Send(buf, e); err != nil {
				return err
			}
			if _, err := p.Recv(buf, e); err != nil {
				return err
			}
			if err := stamped(buf, ^round); err != nil {
				return err
			}
		}
		return nil
	}
}

// answers compares what asks sends, and answers.
func answers(p *engine.Port, peer, tag, size, rounds int) func() error {
	buf, e := make([]byte, size), engine.Envelope{Peer: int32(peer), Tag: int32(tag)}
	return func() error {
		for round := range uint64(rounds) {
			round |= uint64(tag) << 48
			if _, err := p.Recv(buf, e); err != nil {
				return err
			}
			if err := stamped(buf, round); err != nil {
				return err
			}
			stamp(buf, ^round)
			if err := p.Send(buf, e); err != nil {
				return err
			}
		}
		return nil
	}
}

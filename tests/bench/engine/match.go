// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/endpoints/engine/match"
	"github.com/tpsl/tpsl/tests/bench/report"
)

func init() {
	register(bench{
		name:  "Match",
		about: "a message to one of many pending receives, by matcher",
		limit: 30 * time.Second,
		sides: func(plan) (sides []string) {
			for _, k := range match.Kinds {
				sides = append(sides, "Match/matcher="+k.String())
			}
			return sides
		},
		measure: measureMatch,
		// That 10^5 receives and their buffers are in no cache is no matter of matching: Table has the bound for that.
		goals: []report.Goal{
			{What: "message to one of 10^5 receives over one of 10, table", Name: "Match/matcher=table/pending=100000", Base: "Match/matcher=table/pending=10"},
			{What: "message to one of 10^5 receives over one of 10, queues", Name: "Match/matcher=queues/pending=100000", Base: "Match/matcher=queues/pending=10"},
			{What: "message to one of 10^5 receives, table/queues", Name: "Match/matcher=table/pending=100000", Base: "Match/matcher=queues/pending=100000", AtMost: 0.1},
			{What: "message to one of 10 receives, table/queues", Name: "Match/matcher=table/pending=10", Base: "Match/matcher=queues/pending=10"},
		},
	})
}

// measureMatch sends messages to itself: nothing but the engine's own work is measured.
func measureMatch(m *meter) error {
	for _, pending := range []int{10, 100, 1000, 10_000, 100_000} {
		f, err := fabric(m.side, 1)
		if err != nil {
			return err
		}
		rounds, took, err := m.sendToSome(f.Port(0), pending)
		if err != nil {
			return err
		}
		m.print(rounds, nanosecondsOf(took, rounds), "ns/msg", fmt.Sprintf("pending=%d", pending))
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// sendToSome keeps so many receives posted, each for a tag of its own, and sends to a tag by chance.
func (m *meter) sendToSome(p *engine.Port, pending int) (rounds int, took time.Duration, err error) {
	requests, room := make([]engine.Request, pending), make([]byte, 8*pending)
	post := func(tag int) (err error) {
		requests[tag], err = p.Irecv(room[8*tag:8*tag+8], engine.Envelope{Tag: int32(tag)})
		return err
	}
	for tag := range pending {
		if err := post(tag); err != nil {
			return 0, 0, err
		}
	}
	chance, message := uint64(1), make([]byte, 8)
	return m.repeat(func(rounds int) (time.Duration, error) {
		begin := time.Now()
		for range rounds {
			chance = chance*6364136223846793005 + 1442695040888963407 // Knuth's MMIX
			tag := int(chance >> 33 % uint64(pending))
			stamp(message, chance)
			if err := p.Send(message, engine.Envelope{Tag: int32(tag)}); err != nil {
				return 0, err
			}
			if _, err := requests[tag].Wait(); err != nil {
				return 0, err
			}
			if err := stamped(room[8*tag:8*tag+8], chance); err != nil {
				return 0, err
			}
			if err := post(tag); err != nil {
				return 0, err
			}
		}
		return time.Since(begin), nil
	})
}

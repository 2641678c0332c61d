// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine"
)

func init() {
	register(bench{
		name:    "Eager",
		about:   "half a round trip of a pair of threads by packet and by rendezvous, by size: where Options.Eager should lie on this machine",
		limit:   30 * time.Second,
		sides:   func(plan) []string { return []string{"Eager/mode=packet", "Eager/mode=rendezvous"} },
		measure: measureEager,
		cores:   2,
	})
}

// measureEager sends every size in the side's way, whatever Options.Eager usually is.
func measureEager(m *meter) error {
	const largest = 256 << 10
	eager := largest
	if m.side.Get("mode") == "rendezvous" {
		eager = -1
	}
	f, err := engine.New(engine.Options{Ports: 2, Eager: eager})
	if err != nil {
		return err
	}
	defer f.Close()
	for size := 64; size <= largest; size *= 4 {
		rounds, took, err := m.repeat(func(rounds int) (time.Duration, error) { return m.pingPong(f, size, rounds) })
		if err != nil {
			return err
		}
		m.print(2*rounds, microsecondsOf(took, 2*rounds), "us/msg", fmt.Sprintf("size=%d", size))
	}
	return nil
}

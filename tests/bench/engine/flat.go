// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/tpsl/tpsl/tests/bench/turns"
)

// Sizes of messages.
var (
	allSizes   = []int{8, 64, 512, 4096, 16384, 65536, 262144, 1 << 20, 4 << 20}
	quickSizes = []int{8, 512, 4096, 65536, 4 << 20}
)

func (p plan) sizes() []int {
	if p.quick {
		return quickSizes
	}
	return allSizes
}

func init() {
	register(bench{
		name:     "Machine",
		about:    "what the machine allows: a cache line handed over, memcpy",
		contests: limits,
		commands: [][]string{turns.CC("gcc", "limits")},
	})
	register(bench{
		name:     "Flat",
		about:    "flat MPICH: latency, rate and bandwidth of a pair of ranks",
		contests: flat,
		commands: [][]string{withEnds("latency"), withEnds("stream")},
		cores:    2,
	})
}

// withEnds builds a program of pairs, see tests/bench/programs/ends.h.
func withEnds(name string) []string {
	return append(turns.CC("mpicc.mpich", name), turns.Sources+"/ends.c")
}

// pair returns the setting with the CPUs of a pair.
func (p plan) pair() string {
	return fmt.Sprintf("BENCH_CPUS=%d,%d", p.cores[0], p.cores[1%len(p.cores)])
}

func (p plan) milliseconds() string { return fmt.Sprint(p.figure.Milliseconds()) }

func limits(p plan) []turns.Contest {
	return []turns.Contest{{Limit: 20 * time.Second, Sides: []turns.Side{{
		Env:  []string{p.pair()},
		Argv: []string{turns.Program("limits", "gcc"), p.milliseconds(), join(p.sizes())},
	}}}}
}

// flat runs two ranks, each on its core.
func flat(p plan) []turns.Contest {
	c := turns.Contest{Limit: 30 * time.Second}
	for _, name := range []string{"latency", "stream"} {
		c.Sides = append(c.Sides, turns.Side{
			Env: []string{p.pair(), "OMP_NUM_THREADS=1"},
			Argv: []string{"mpiexec.hydra", "-n", "2", "-bind-to", fmt.Sprintf("user:%d,%d", p.cores[0], p.cores[1%len(p.cores)]),
				turns.Program(name, "mpicc.mpich"), "flat", "processes", p.milliseconds(), join(p.sizes())},
		})
	}
	return []turns.Contest{c}
}

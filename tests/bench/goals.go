// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

// A goal is a bound for the median of a benchmark or, with a base, of its ratio
// to the base in the same turn.
type goal struct {
	what, name, base string
	atMost, atLeast  float64 // 0: no such bound
	// notWorse: the ratio's interval must include 1 or lie on its better side.
	notWorse bool
}

// goals are those that the plan's contests have values for.
func (p plan) goals() (all []goal) {
	all = append(all, p.goalsOfPairs()...)
	all = append(all, p.goalsOfHalos()...)
	all = append(all, p.goalsOfStartups()...)
	all = append(all, goalsOfLaunches()...)
	return append(all,
		goal{what: "start-up of 16 ranks, mpiexec/mpiexec.hydra", name: "Startup/by=mpiexec/mode=flat/ranks=16", base: "Startup/by=mpiexec.hydra/mode=flat/ranks=16", notWorse: true},
		goal{what: "start-up of 16 ranks, tpsl/mpiexec.hydra", name: "Startup/by=mpiexec/mode=tpsl/ranks=16", base: "Startup/by=mpiexec.hydra/mode=flat/ranks=16"},
		goal{what: "start-up of 16 ranks, private/mpiexec.hydra", name: "Startup/by=mpiexec/mode=private/ranks=16", base: "Startup/by=mpiexec.hydra/mode=flat/ranks=16"},
		goal{what: "memory of 16 ranks, tpsl/flat", name: "Memory/mode=tpsl/ranks=16", base: "Memory/mode=flat/ranks=16"},
		goal{what: "memory of 16 ranks, private/flat", name: "Memory/mode=private/ranks=16", base: "Memory/mode=flat/ranks=16"},
		goal{what: "PMI barrier of 64, mpiexec/mpiexec.hydra", name: "PMIBarrier/by=mpiexec/ranks=64", base: "PMIBarrier/by=mpiexec.hydra/ranks=64", atMost: 0.8},
		goal{what: "64x64 PMI gets, mpiexec/mpiexec.hydra", name: "PMIGets/by=mpiexec/ranks=64", base: "PMIGets/by=mpiexec.hydra/ranks=64", atMost: 0.8},
		goal{what: "stub over a direct call", name: "Stub", atMost: 2},
		goal{what: "instance after the first", name: "Instance", atMost: 2},
	)
}

// of names a way's benchmark of pairs.
func (w way) of(what string, pairs, size int) string {
	return fmt.Sprintf("%s/mode=%s/between=%s/pairs=%d/size=%d", what, w.mode, w.between, pairs, size)
}

// ratio makes a goal of a bound.
func ratio(what string, w, base way, benchmark string, pairs, size int, bound goal) goal {
	bound.what = fmt.Sprintf("%s, %s/%s", what, w.mode, base.mode)
	bound.name, bound.base = w.of(benchmark, pairs, size), base.of(benchmark, pairs, size)
	return bound
}

const small, medium, large = 8, 65536, 4 << 20

func (p plan) goalsOfPairs() []goal {
	all := []goal{
		ratio("8 B latency", tpslThreads, flat, "Latency", 1, small, goal{notWorse: true}),
		ratio("8 B latency", privateThreads, flat, "Latency", 1, small, goal{notWorse: true}),
		ratio("8 B latency between processes", tpslProcesses, flat, "Latency", 1, small, goal{notWorse: true}),
		ratio("8 B message rate", tpslThreads, flat, "Rate", 1, small, goal{notWorse: true}),
		ratio("8 B message rate", privateThreads, flat, "Rate", 1, small, goal{notWorse: true}),
		ratio("64 KiB bandwidth", tpslThreads, flat, "Bandwidth", 1, medium, goal{atLeast: 1.2}),
		ratio("64 KiB bandwidth", privateThreads, flat, "Bandwidth", 1, medium, goal{}),
		ratio("4 MiB bandwidth", tpslThreads, flat, "Bandwidth", 1, large, goal{atLeast: 1.35}),
		ratio("4 MiB bandwidth", privateThreads, flat, "Bandwidth", 1, large, goal{atLeast: 1.25}),
		{what: "4 MiB bandwidth, tpsl/memcpy", name: tpslThreads.of("Bandwidth", 1, large), base: fmt.Sprintf("Memcpy/size=%d", large), atLeast: 0.95},
		{what: "8 B latency, tpsl", name: tpslThreads.of("Latency", 1, small)},
		{what: "cache line from core to core", name: "HandOver"},
		ratio("8 B latency between processes", tpslProcesses, tags, "Latency", 1, small, goal{}),
	}
	for _, pairs := range p.pairs() {
		for _, base := range []way{tags, comms} {
			bound := goal{}
			switch {
			case pairs == 2 && len(p.cores) == 2:
				bound.atLeast = 3
			case pairs == 16 && base == tags:
				bound.atLeast = 10
			}
			all = append(all, ratio(fmt.Sprintf("8 B message rate of %d pairs", pairs), tpslProcesses, base, "Rate", pairs, small, bound))
		}
	}
	return all
}

// goalsOfHosts are of interest where there are two.
func goalsOfHosts() []goal {
	return []goal{
		ratio("8 B latency between hosts", tpslHosts, flatHosts, "Latency", 1, small, goal{}),
		ratio("64 KiB bandwidth between hosts", tpslHosts, flatHosts, "Bandwidth", 1, medium, goal{}),
	}
}

// goalsOfHalos compare a side of two threads, or of as many as it has cores, with flat ranks
// and with one thread.
func (p plan) goalsOfHalos() (all []goal) {
	grids, threads := []string{"cube", "x", "y", "z"}, 2
	if p.quick {
		grids = []string{"x", "z"}
	}
	for !p.quick && 4*threads <= min(32, len(p.cores)) {
		threads *= 2
	}
	for _, grid := range grids {
		for _, plane := range []string{"xz", "yz"} {
			name := func(w way, threads int) string {
				return fmt.Sprintf("Halo/mode=%s/grid=%s/plane=%s/threads=%d", w.mode, grid, plane, threads)
			}
			what := fmt.Sprintf("halo of %s, plane %s, %d threads", grid, plane, threads)
			all = append(all,
				goal{what: what + ", tpsl/flat", name: name(tpslProcesses, threads), base: name(flat, threads), notWorse: true},
				goal{what: what + "/1, tpsl", name: name(tpslProcesses, threads), base: name(tpslProcesses, 1)})
		}
	}
	return all
}

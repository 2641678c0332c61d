// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/tpsl/tpsl/tests/bench/report"
)

// goals are those that the plan's contests have values for.
func (p plan) goals() (all []report.Goal) {
	all = append(all, p.goalsOfPairs()...)
	all = append(all, p.goalsOfHalos()...)
	all = append(all, p.goalsOfStartups()...)
	all = append(all, goalsOfLaunches()...)
	return append(all,
		report.Goal{What: "start-up of 16 ranks, mpiexec/mpiexec.hydra", Name: "Startup/by=mpiexec/mode=flat/ranks=16", Base: "Startup/by=mpiexec.hydra/mode=flat/ranks=16", NotWorse: true},
		report.Goal{What: "start-up of 16 ranks, tpsl/mpiexec.hydra", Name: "Startup/by=mpiexec/mode=tpsl/ranks=16", Base: "Startup/by=mpiexec.hydra/mode=flat/ranks=16"},
		report.Goal{What: "start-up of 16 ranks, private/mpiexec.hydra", Name: "Startup/by=mpiexec/mode=private/ranks=16", Base: "Startup/by=mpiexec.hydra/mode=flat/ranks=16"},
		report.Goal{What: "memory of 16 ranks, tpsl/flat", Name: "Memory/mode=tpsl/ranks=16", Base: "Memory/mode=flat/ranks=16"},
		report.Goal{What: "memory of 16 ranks, private/flat", Name: "Memory/mode=private/ranks=16", Base: "Memory/mode=flat/ranks=16"},
		report.Goal{What: "PMI barrier of 64, mpiexec/mpiexec.hydra", Name: "PMIBarrier/by=mpiexec/ranks=64", Base: "PMIBarrier/by=mpiexec.hydra/ranks=64", AtMost: 0.8},
		report.Goal{What: "64x64 PMI gets, mpiexec/mpiexec.hydra", Name: "PMIGets/by=mpiexec/ranks=64", Base: "PMIGets/by=mpiexec.hydra/ranks=64", AtMost: 0.8},
		report.Goal{What: "stub over a direct call", Name: "Stub", AtMost: 2},
		report.Goal{What: "instance after the first", Name: "Instance", AtMost: 2},
	)
}

// of names a way's benchmark of pairs.
func (w way) of(what string, pairs, size int) string {
	return fmt.Sprintf("%s/mode=%s/between=%s/pairs=%d/size=%d", what, w.mode, w.between, pairs, size)
}

// ratio makes a goal of a bound.
func ratio(what string, w, base way, benchmark string, pairs, size int, bound report.Goal) report.Goal {
	bound.What = fmt.Sprintf("%s, %s/%s", what, w.mode, base.mode)
	bound.Name, bound.Base = w.of(benchmark, pairs, size), base.of(benchmark, pairs, size)
	return bound
}

const small, medium, large = 8, 65536, 4 << 20

func (p plan) goalsOfPairs() []report.Goal {
	all := []report.Goal{
		ratio("8 B latency", tpslThreads, flat, "Latency", 1, small, report.Goal{NotWorse: true}),
		ratio("8 B latency", privateThreads, flat, "Latency", 1, small, report.Goal{NotWorse: true}),
		ratio("8 B latency between processes", tpslProcesses, flat, "Latency", 1, small, report.Goal{NotWorse: true}),
		ratio("8 B message rate", tpslThreads, flat, "Rate", 1, small, report.Goal{NotWorse: true}),
		ratio("8 B message rate", privateThreads, flat, "Rate", 1, small, report.Goal{NotWorse: true}),
		ratio("64 KiB bandwidth", tpslThreads, flat, "Bandwidth", 1, medium, report.Goal{AtLeast: 1.2}),
		ratio("64 KiB bandwidth", privateThreads, flat, "Bandwidth", 1, medium, report.Goal{}),
		ratio("4 MiB bandwidth", tpslThreads, flat, "Bandwidth", 1, large, report.Goal{AtLeast: 1.35}),
		ratio("4 MiB bandwidth", privateThreads, flat, "Bandwidth", 1, large, report.Goal{AtLeast: 1.25}),
		{What: "4 MiB bandwidth, tpsl/memcpy", Name: tpslThreads.of("Bandwidth", 1, large), Base: fmt.Sprintf("Memcpy/size=%d", large), AtLeast: 0.95},
		{What: "8 B latency, tpsl", Name: tpslThreads.of("Latency", 1, small)},
		{What: "cache line from core to core", Name: "HandOver"},
		ratio("8 B latency between processes", tpslProcesses, tags, "Latency", 1, small, report.Goal{}),
	}
	for _, pairs := range p.pairs() {
		for _, base := range []way{tags, comms} {
			bound := report.Goal{}
			switch {
			case pairs == 2 && len(p.cores) == 2:
				bound.AtLeast = 3
			case pairs == 16 && base == tags:
				bound.AtLeast = 10
			}
			all = append(all, ratio(fmt.Sprintf("8 B message rate of %d pairs", pairs), tpslProcesses, base, "Rate", pairs, small, bound))
		}
	}
	return all
}

// goalsOfHosts are of interest where there are two.
func goalsOfHosts() []report.Goal {
	return []report.Goal{
		ratio("8 B latency between hosts", tpslHosts, flatHosts, "Latency", 1, small, report.Goal{}),
		ratio("64 KiB bandwidth between hosts", tpslHosts, flatHosts, "Bandwidth", 1, medium, report.Goal{}),
	}
}

// goalsOfHalos compare a side of two threads, or of as many as it has cores, with flat ranks
// and with one thread.
func (p plan) goalsOfHalos() (all []report.Goal) {
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
				report.Goal{What: what + ", tpsl/flat", Name: name(tpslProcesses, threads), Base: name(flat, threads), NotWorse: true},
				report.Goal{What: what + "/1, tpsl", Name: name(tpslProcesses, threads), Base: name(tpslProcesses, 1)})
		}
	}
	return all
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"

	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/turns"
)

// byNeighbours has ranks that wait let the libraries of computing ranks work.
const byNeighbours = "TPSL_PROGRESS=neighbours"

// byThread has MPICH make a thread for each rank that lets the library work.
const byThread = "MPIR_CVAR_ASYNC_PROGRESS=1"

// progress measures what a rank does with one that computes: processes, processes with a thread for progress, thread ranks, and
// thread ranks that help.
func progress(p plan) suite {
	s := suite{suffix: "-" + measuredProgress}
	ends := filepath.Join(turns.Sources, "ends.c")
	for _, compiler := range []string{"mpicc.mpich", "bin/tpslcc"} {
		for _, program := range []string{"busy", "latency"} {
			s.commands = append(s.commands, append(turns.CC(compiler, program), ends))
		}
		s.commands = append(s.commands, turns.CC(compiler, "crowded"))
	}
	sizes := []int{medium, 1 << 20, 4 << 20}
	s.contests = append(s.contests,
		p.compare("busy", 1, sizes, flat, asynchronous, tpslThreads, neighbourThreads),
		p.compare("latency", 1, append([]int{small}, sizes...), flat, tpslThreads, neighbourThreads))
	for _, c := range []struct {
		op   string
		size int
	}{{"send", medium}, {"send", 1 << 20}, {"send", 4 << 20}, {"put", small}, {"fetch", small}, {"sum", medium}, {"sum", 1 << 20}, {"sum", 4 << 20}} {
		for _, mode := range []string{"neighbours", "tpsl", "async"} {
			g := report.Goal{What: fmt.Sprintf("%s of %d B, %s/flat", c.op, c.size, mode), Name: busy(mode, c.op, c.size), Base: busy("flat", c.op, c.size)}
			if mode == "neighbours" && c.op != "sum" {
				g.AtMost = 0.1 // 2 ms of 20
			}
			s.goals = append(s.goals, g)
		}
	}
	for _, mode := range []string{"tpsl", "async"} {
		s.goals = append(s.goals, report.Goal{What: "computing, neighbours/" + mode, Name: busy("neighbours", "compute", 0), Base: busy(mode, "compute", 0), AtMost: 1.02})
	}
	s.goals = append(s.goals, report.Goal{What: "call, neighbours/tpsl", Name: busy("neighbours", "call", 0), Base: busy("tpsl", "call", 0)})
	s.goals = append(s.goals, report.Goal{What: "latency of 8 B, neighbours/tpsl", Name: latencyOf("neighbours", small), Base: latencyOf("tpsl", small), NotWorse: true})
	for _, size := range sizes {
		g := report.Goal{What: fmt.Sprintf("a message of %d B while both wait, neighbours/tpsl", size), Name: latencyOf("neighbours", size), Base: latencyOf("tpsl", size)}
		if g.NotWorse = size == medium; !g.NotWorse {
			g.AtMost = 0.67 // by two copies at a time
		}
		s.goals = append(s.goals, g, report.Goal{What: fmt.Sprintf("a message of %d B while both wait, neighbours/flat", size), Name: latencyOf("neighbours", size), Base: latencyOf("flat", size)})
	}
	return s.add(crowdedOf(p, 2*len(p.cores), byNeighbours, "neighbours"))
}

func latencyOf(mode string, size int) string {
	return fmt.Sprintf("Latency/mode=%s/between=%s/pairs=1/size=%d", mode, map[bool]string{true: "processes", false: "threads"}[mode == "flat"], size)
}

func busy(mode, op string, size int) string {
	return fmt.Sprintf("Busy/mode=%s/op=%s/size=%d", mode, op, size)
}

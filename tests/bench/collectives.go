// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/turns"
)

// byMemory has libtpsl serve collective operations in place of the MPI library.
const byMemory = "TPSL_COLLECTIVES=memory"

// collectives measures collective operations by load and store against processes, and against thread ranks whose MPI library
// serves them.
func collectives(p plan) suite {
	s := suite{suffix: "-" + measuredCollectives}
	ends := filepath.Join(turns.Sources, "ends.c")
	for _, compiler := range []string{"mpicc.mpich", "bin/tpslcc"} {
		s.commands = append(s.commands, append(turns.CC(compiler, "collective"), ends), turns.CC(compiler, "crowded"))
	}
	for _, pairs := range p.pairs() {
		if 2*pairs > len(p.cores) {
			continue
		}
		s.contests = append(s.contests, p.compare("collective", pairs, []int{small, medium, 1 << 20}, flat, tpslThreads, memoryThreads))
		s.goals = append(s.goals, goalsOfCollectives(2*pairs)...)
	}
	for ranks := 2 * len(p.cores); ranks <= 8*len(p.cores); ranks *= 2 {
		s = s.add(crowdedOf(p, ranks, byMemory, "memory"))
	}
	return s
}

// crowdedOf compares ranks that share CPUs with and without a setting.
func crowdedOf(p plan, ranks int, setting, mode string) (s suite) {
	n := fmt.Sprint(ranks)
	argv := []string{"bin/mpiexec", "-n", n, "-rpp", n, turns.Program("crowded", "tpslcc")}
	s.contests = []turns.Contest{{Limit: 30 * time.Second, Sides: []turns.Side{
		{Argv: slices.Concat(argv, []string{"tpsl", "1000"})},
		{Env: []string{setting}, Argv: slices.Concat(argv, []string{mode, "1000"})},
	}}}
	for _, call := range []string{"Barrier", "Sum"} {
		s.goals = append(s.goals, report.Goal{What: fmt.Sprintf("%s of %d ranks on %d cores, %s/tpsl", call, ranks, len(p.cores), mode),
			Name: fmt.Sprintf("Crowded%s/mode=%s/ranks=%d", call, mode, ranks), Base: fmt.Sprintf("Crowded%s/mode=tpsl/ranks=%d", call, ranks), NotWorse: true})
	}
	return s
}

// add returns both suites as one.
func (s suite) add(other suite) suite {
	s.contests, s.goals = append(s.contests, other.contests...), append(s.goals, other.goals...)
	return s
}

// goalsOfCollectives are those of so many ranks with a core each. Two ranks have bounds.
func goalsOfCollectives(ranks int) (all []report.Goal) {
	for _, c := range []struct {
		op     string
		size   int
		atMost float64
	}{
		{"barrier", 0, 0.3}, {"allreduce", small, 0.45}, {"allreduce", medium, 0}, {"allreduce", 1 << 20, 0.5},
		{"bcast", small, 0}, {"bcast", medium, 0}, {"bcast", 1 << 20, 0.4},
	} {
		for _, mode := range []string{"memory", "tpsl"} {
			g := report.Goal{What: fmt.Sprintf("%s of %d B, %d ranks, %s/flat", c.op, c.size, ranks, mode)}
			g.Name, g.Base = collective(mode, c.op, ranks, c.size), collective("flat", c.op, ranks, c.size)
			if mode == "memory" && ranks == 2 {
				g.AtMost = c.atMost
			}
			all = append(all, g)
		}
	}
	return all
}

func collective(mode, op string, ranks, size int) string {
	return fmt.Sprintf("Collective/mode=%s/op=%s/ranks=%d/size=%d", mode, op, ranks, size)
}

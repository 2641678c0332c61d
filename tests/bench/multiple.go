// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"

	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/turns"
)

// multiple measures the latency of pairs in the three forms of the thesis on MPC (2014): two ranks whose threads talk with one another (single-rank), a rank
// whose threads talk with a rank each (multi-rank), and ranks without threads (full MPI), the last as processes and as thread ranks. A thread rank has a library
// of its own, so its form is always the last one, however many there are in a process.
func multiple(p plan) suite {
	s := suite{suffix: "-" + measuredMultiple}
	ends := filepath.Join(turns.Sources, "ends.c")
	for _, compiler := range []string{"mpicc.mpich", "bin/tpslcc"} {
		s.commands = append(s.commands, append(turns.CC(compiler, "latency"), ends))
	}
	sizes := []int{small, 1024, 8192, medium, 1 << 20}
	for _, pairs := range p.pairs() {
		s.contests = append(s.contests, p.compare("latency", pairs, sizes, flat, tags, fan, tpslProcesses))
		for _, size := range sizes {
			of := func(w way) string { return w.of("Latency", pairs, size) }
			what := fmt.Sprintf("%d B, %d pairs, ", size, pairs)
			s.goals = append(s.goals,
				report.Goal{What: what + "single-rank/full", Name: of(tags), Base: of(flat)},
				report.Goal{What: what + "multi-rank/full", Name: of(fan), Base: of(flat)},
				report.Goal{What: what + "thread ranks/full", Name: of(tpslProcesses), Base: of(flat), AtMost: 1.2})
			if pairs > 1 {
				s.goals = append(s.goals, report.Goal{What: what + "single-rank/of one pair", Name: of(tags), Base: tags.of("Latency", 1, size)})
			}
		}
	}
	return s
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/turns"
)

// many measures how long so many ranks of one process take from start to end, against a process for each. All have the
// setting nolocal, for MPICH's own barriers of start-up spin.
func many(quick bool) suite {
	numbers := []int{1, 16, 64, 128, 256}
	if quick {
		numbers = numbers[2:4]
	}
	s := suite{suffix: "-" + measuredMany, commands: [][]string{turns.CC("mpicc.mpich", "startup"), turns.CC("bin/tpslcc", "startup")}}
	for _, ranks := range numbers {
		c := turns.Contest{Limit: 5 * time.Minute}
		for _, way := range []struct {
			mode       string
			perProcess int
		}{{"flat", 1}, {"tpsl", ranks}, {"private", ranks}} {
			side := startup("mpiexec", way.mode, ranks, way.perProcess)
			side.Env = append(side.Env, "MPIR_CVAR_NOLOCAL=1")
			c.Sides = append(c.Sides, side)
			if way.mode == "flat" {
				continue
			}
			goal := report.Goal{What: fmt.Sprintf("start-up of %d ranks in one process, %s/flat", ranks, way.mode), Name: side.Job, Base: c.Sides[0].Job}
			goal.NotWorse = ranks >= 128
			s.goals = append(s.goals, goal)
		}
		s.contests = append(s.contests, c)
	}
	return s
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/turns"
)

// A job of so many ranks takes minutes, so it runs in few turns only: it makes a point of the curve, and no goal is judged by it.
const (
	most     = 512
	fewTurns = 2
)

// many measures how long so many ranks of one process take from start to end, against a process for each. All have the
// setting nolocal, for MPICH's own barriers of start-up spin.
func many(quick bool) suite {
	numbers := []int{1, 2, 4, 8, 16, 32, 64, 128, 256, most}
	if quick {
		numbers = []int{64, 128}
	}
	s := suite{suffix: "-" + measuredMany, commands: [][]string{turns.CC("mpicc.mpich", "startup"), turns.CC("bin/tpslcc", "startup")}}
	for _, ranks := range numbers {
		c := turns.Contest{Limit: 5 * time.Minute}
		if ranks == most {
			c.Limit, c.Turns = 15*time.Minute, fewTurns
		}
		for _, mode := range []string{"flat", "tpsl", "private"} {
			c.Sides = append(c.Sides, startOfMany(mode, ranks))
		}
		s.contests = append(s.contests, c)
		if ranks == 1 {
			continue // every process has one rank then
		}
		for _, mode := range []string{"tpsl", "private"} {
			s.goals = append(s.goals, report.Goal{
				What: fmt.Sprintf("start-up of %d ranks in one process, %s/flat", ranks, mode),
				Name: startOfMany(mode, ranks).Job, Base: startOfMany("flat", ranks).Job, NotWorse: ranks == 128 || ranks == 256,
			})
		}
	}
	s.goals = append(s.goals, growths()...)
	return s
}

// startOfMany is a side with a process for each rank, or one for all.
func startOfMany(mode string, ranks int) turns.Side {
	perProcess := ranks
	if mode == "flat" {
		perProcess = 1
	}
	side := startup("mpiexec", mode, ranks, perProcess)
	side.Env = append(side.Env, "MPIR_CVAR_NOLOCAL=1")
	return side
}

// growths are of the time that four times the ranks take. Twice the time for each of them is eight times the whole.
func growths() (all []report.Goal) {
	for _, mode := range []string{"flat", "tpsl", "private"} {
		g := report.Goal{What: "start-up of 256 ranks in one process over that of 64, " + mode, Name: startOfMany(mode, 256).Job, Base: startOfMany(mode, 64).Job, AtMost: 8}
		if mode == "flat" {
			g.What, g.AtMost = "start-up of 256 processes over that of 64, flat", 0
		}
		all = append(all, g)
	}
	return all
}

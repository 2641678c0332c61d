// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/turns"
)

// solver is where the solver is that programs of this folder use.
const solver = "examples/solver"

// withSolver is the command that builds a program with it.
func withSolver(command []string) []string {
	return append(command, "-I"+solver, filepath.Join(solver, "poisson.c"), "-lm")
}

// Edges of the square, by the number of ranks. Flat ranks that share a core wait for it between any two messages, so theirs is small.
const edgeOfMany, edgeOfFew = 32, 256

// embedded measures the solver of an application that is no MPI program, on ranks of TPSL_Run, against the same solver under mpiexec.
func embedded(p plan) suite {
	s := suite{suffix: "-" + measuredEmbedded}
	for _, compiler := range []string{"mpicc.mpich", "bin/tpslcc"} {
		s.commands = append(s.commands, withSolver(turns.CC(compiler, "embedded")))
	}
	for _, ranks := range []int{1, 2, 4} {
		edge := edgeOfFew
		switch crowded := ranks > len(p.cores); {
		case crowded && p.quick:
			continue
		case crowded:
			edge = edgeOfMany
		}
		cpus := make([]int, ranks)
		for i := range cpus {
			cpus[i] = p.cores[i%len(p.cores)]
		}
		what := fmt.Sprintf("/ranks=%d/size=%d", ranks, edge)
		args := func(mode string) []string { return []string{mode, fmt.Sprint(ranks), fmt.Sprint(edge)} }
		flat := turns.Side{
			Name: "flat" + what,
			Argv: append([]string{"bin/mpiexec", "-n", fmt.Sprint(ranks), "-bind-to", "user:" + join(cpus, ","), turns.Program("embedded", "mpicc.mpich")}, args("flat")...),
		}
		inside := turns.Side{
			Name: "tpsl" + what, Env: []string{"BENCH_CPUS=" + join(cpus, ",")},
			Argv: append([]string{turns.Program("embedded", "tpslcc")}, args("tpsl")...),
		}
		s.contests = append(s.contests, turns.Contest{Limit: 5 * time.Minute, Sides: []turns.Side{flat, inside}})
		s.goals = append(s.goals, report.Goal{
			What: fmt.Sprintf("solution, ranks: %d, embedded/flat", ranks), Name: "Embedded/mode=tpsl" + what, Base: "Embedded/mode=flat" + what, NotWorse: true,
		})
	}
	return s
}

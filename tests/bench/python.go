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

// debianPython has an mpi4py for Open MPI.
const debianPython = "/usr/bin/python3"

const ranksOfTable = 16

// python measures private ranks of Python beside flat ones: memory where all read a table, arrays of all, and the start.
func python(p plan) suite {
	s := suite{suffix: "-" + measuredPython}
	for _, part := range []suite{p.tables(), p.gathers(), startsOfPython()} {
		s.contests, s.goals = append(s.contests, part.contests...), append(s.goals, part.goals...)
	}
	return s
}

// pythonJob is what starts Debian's interpreter, as a process for each rank or as private ranks of one.
func pythonJob(ranks int, private bool, args ...string) []string {
	perProcess := 1
	if private {
		perProcess = ranks
	}
	return append([]string{"bin/mpiexec", "-pmi", "x", "-n", fmt.Sprint(ranks), "-rpp", fmt.Sprint(perProcess)}, args...)
}

// pythonProgram is a side that runs one of tests/bench/programs.
func pythonProgram(ranks int, private bool, options []string, program string, args ...string) turns.Side {
	words := append(options[:len(options):len(options)], debianPython, filepath.Join(turns.Sources, program+".py"))
	return turns.Side{
		Name: fmt.Sprintf("%s %v", program, args), Argv: pythonJob(ranks, private, append(words, args...)...),
		Env: []string{"PYTHONPATH=share/tpsl/python", "PYTHONDONTWRITEBYTECODE=1", "OMP_NUM_THREADS=1"},
	}
}

// tables compares what each rank takes beside a table, or without one. A table for each rank is a smaller one.
func (p plan) tables() suite {
	large, small := 4096, 256
	if p.quick {
		large, small = 64, 16
	}
	name := func(mode string, size int) string {
		return fmt.Sprintf("Table/mode=%s/ranks=%d/size=%d", mode, ranksOfTable, size)
	}
	side := func(mode string, size int) turns.Side {
		return pythonProgram(ranksOfTable, mode == "private" || mode == "views", nil, "table", mode, fmt.Sprint(size))
	}
	return suite{
		contests: []turns.Contest{{Limit: 5 * time.Minute, Turns: 6, Sides: []turns.Side{
			side("flat", 0), side("private", 0), side("own", small), side("window", small), side("views", small), side("window", large), side("views", large),
		}}},
		goals: []report.Goal{
			{What: fmt.Sprintf("memory of a rank beside a table of %d MiB, views", large), Name: name("views", large), AtMost: 25},
			{What: fmt.Sprintf("memory of a rank beside a table of %d MiB, window", large), Name: name("window", large)},
			{What: fmt.Sprintf("memory of a rank beside a table of %d MiB, views/window", large), Name: name("views", large), Base: name("window", large)},
			{What: fmt.Sprintf("memory of a rank beside a table of %d MiB, views/own", small), Name: name("views", small), Base: name("own", small)},
			{What: "memory of a rank without a table, private/flat", Name: name("private", 0), Base: name("flat", 0)},
		},
	}
}

// gathers compares how long it takes until two ranks, with a core each, have each other's array.
func (p plan) gathers() (s suite) {
	sizes := []int{8192, 65536, 1 << 20, 16 << 20}
	if p.quick {
		sizes = sizes[1:2]
	}
	if len(p.cores) < 2 {
		return s
	}
	options := []string{"-bind-to", "user:" + join(p.cores[:2], ",")}
	c := turns.Contest{Limit: time.Minute}
	for _, mode := range []string{"flat", "private", "views"} {
		c.Sides = append(c.Sides, pythonProgram(2, mode != "flat", options, "gather", mode, fmt.Sprint(p.milliseconds), join(sizes, ",")))
	}
	s.contests = []turns.Contest{c}
	for _, what := range []string{"Gather", "GatherAndAdd"} {
		for _, size := range sizes {
			for _, base := range []string{"flat", "private"} {
				name := func(mode string) string { return fmt.Sprintf("%s/mode=%s/ranks=2/size=%d", what, mode, size) }
				s.goals = append(s.goals, report.Goal{What: fmt.Sprintf("%s of %d B a rank, views/%s", words[what], size, base), Name: name("views"), Base: name(base)})
			}
		}
	}
	return s
}

var words = map[string]string{"Gather": "arrays of all", "GatherAndAdd": "arrays of all, and their sum"}

// startsOfPython compares how long ranks take from start to end.
func startsOfPython() (s suite) {
	for _, start := range []struct {
		ranks int
		what  string
	}{{4, "numpy"}, {16, "numpy"}, {16, "nothing"}} {
		name := func(mode string) string {
			return fmt.Sprintf("Startup/mode=%s/ranks=%d/imports=%s", mode, start.ranks, start.what)
		}
		command := "pass"
		if start.what != "nothing" {
			command = "import " + start.what
		}
		side := func(mode string) turns.Side {
			return turns.Side{Job: name(mode), Argv: pythonJob(start.ranks, mode == "private", debianPython, "-c", command)}
		}
		s.contests = append(s.contests, turns.Contest{Limit: time.Minute, Sides: []turns.Side{side("flat"), side("private")}})
		s.goals = append(s.goals, report.Goal{What: fmt.Sprintf("start-up of %d ranks that import %s, private/flat", start.ranks, start.what), Name: name("private"), Base: name("flat")})
	}
	return s
}

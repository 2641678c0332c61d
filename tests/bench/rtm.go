// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/turns"
)

// rtmFolder is where the example is that is measured as it is.
const rtmFolder = "examples/apps/rtm"

// withRTM is the command that builds the example.
func withRTM(compiler string) []string {
	command := []string{compiler, "-fopenmp", "-O2", "-o", turns.Program("rtm", filepath.Base(compiler))}
	for _, file := range []string{"rtm.c", "grid.c", "halo.c"} {
		command = append(command, filepath.Join(rtmFolder, file))
	}
	return command
}

// rtmForms are the ways to use the same cores. The first is the base: a process and a grid for each core. With "threads" each core has a
// thread rank with a grid of its own, and with "ranks" thread ranks share one grid.
var rtmForms = []string{"full", "threads", "master", "tasks", "dd", "ranks"}

// rtmGrids are the sizes, by dimensions; the steps make a run long enough.
var rtmGrids = []struct{ dims, edge, z, steps int }{{2, 2048, 1, 100}, {3, 192, 192, 40}}

// rtm measures the forms of the example on all cores: the time of a step, and what grids and buffers take.
func rtm(p plan) suite {
	s := suite{suffix: "-" + measuredRTM, commands: [][]string{withRTM("mpicc.mpich"), withRTM("bin/tpslcc")}}
	workers := len(p.cores)
	for _, g := range rtmGrids {
		c := turns.Contest{Limit: 2 * time.Minute}
		what := fmt.Sprintf("/dims=%d/workers=%d", g.dims, workers)
		for _, form := range rtmForms {
			steps := g.steps
			if p.quick {
				steps /= 4
			}
			c.Sides = append(c.Sides, p.rtmSide(form, what, steps, g.edge, g.z))
			if form != rtmForms[0] {
				for _, of := range []string{"RTM", "RTMMemory"} {
					s.goals = append(s.goals, report.Goal{
						What: fmt.Sprintf("%s in %dD, %d workers, %s/full", map[string]string{"RTM": "step", "RTMMemory": "memory"}[of], g.dims, workers, form),
						Name: of + "/form=" + form + what, Base: of + "/form=full" + what,
					})
				}
			}
		}
		s.contests = append(s.contests, c)
	}
	return s
}

// rtmSide starts a form with a worker on each core.
func (p plan) rtmSide(form, what string, steps, edge, z int) turns.Side {
	workers := fmt.Sprint(len(p.cores))
	start, compiler, arguments := []string{"-n", workers, "-bind-to", "user:" + join(p.cores, ",")}, "mpicc.mpich", []string{"-form", "full"}
	side := turns.Side{Name: "rtm " + form + what, Hangs: form == "dd"} // as every MPICH 4.0.2 with MPI_THREAD_MULTIPLE
	switch form {
	case "full":
	case "threads":
		start, compiler = append(start, "-rpp", workers), "tpslcc"
	case "ranks":
		start, compiler, arguments = append(start, "-rpp", workers), "tpslcc", []string{"-form", form}
	default:
		start, arguments = []string{"-n", "1", "-bind-to", "user:" + join(p.cores, "+")}, []string{"-form", form, "-threads", workers}
		side.Env = []string{"OMP_PLACES=threads", "OMP_PROC_BIND=close"}
	}
	side.Argv = append([]string{"bin/mpiexec"}, start...)
	side.Argv = append(append(side.Argv, turns.Program("rtm", compiler)), arguments...)
	side.Argv = append(side.Argv, strings.Fields(fmt.Sprintf("-x %d -y %d -z %d -steps %d", edge, edge, z, steps))...)
	side.In = func(ctx context.Context, env []string, argv ...string) (stdout, stderr string, code int, err error) {
		stdout, stderr, code, err = testsupport.OutputContext(ctx, env, argv...)
		if err == nil && code == 0 {
			stdout, err = rtmLines("form="+form+what, steps, stdout)
		}
		return stdout, stderr, code, err
	}
	return side
}

var rtmTold = regexp.MustCompile(`(?s)slowest worker ([0-9.]+) s; .*grids and buffers: (\d+) bytes`)

// rtmLines makes benchmark lines of what the example prints.
func rtmLines(name string, steps int, printed string) (string, error) {
	told := rtmTold.FindStringSubmatch(printed)
	if told == nil {
		return "", fmt.Errorf("rtm: printed %q", printed)
	}
	seconds, err := strconv.ParseFloat(told[1], 64)
	if err != nil {
		return "", err
	}
	bytes, err := strconv.ParseFloat(told[2], 64)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("BenchmarkRTM/%s %d %.3f us/step\nBenchmarkRTMMemory/%s 1 %.3f MiB\n", name, steps, seconds/float64(steps)*1e6, name, bytes/(1<<20)), nil
}

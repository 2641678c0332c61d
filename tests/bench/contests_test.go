// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/tests/bench/machine"
	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/results"
	"github.com/tpsl/tpsl/tests/bench/turns"
)

func TestPlace(t *testing.T) {
	for _, c := range []struct {
		cores []int
		pairs int
		want  []int
	}{
		{[]int{4, 6, 8, 10}, 1, []int{4, 6}},
		{[]int{4, 6, 8, 10}, 2, []int{4, 6, 8, 10}},
		{[]int{4, 6, 8, 10}, 4, []int{4, 6, 8, 10, 4, 6, 8, 10}},
		{[]int{0, 1}, 2, []int{0, 1, 0, 1}},
		{[]int{0, 1}, 4, []int{0, 0, 1, 1, 0, 0, 1, 1}},
		{[]int{3}, 1, []int{3, 3}},
		{[]int{3}, 2, []int{3, 3, 3, 3}},
	} {
		assert.Equal(t, c.want, place(c.cores, c.pairs), "%v, %d pairs", c.cores, c.pairs)
	}
}

func TestWays(t *testing.T) {
	line := func(w way, pairs int) string {
		s := w.run([]int{0, 1}, pairs, "latency", "0", "8")
		return strings.Join(append(s.Env, s.Argv...), " ")
	}
	assert.Equal(t, "BENCH_CPUS=0,1,0,1 OMP_NUM_THREADS=1 bin/mpiexec -n 4 -rpp 1 -bind-to user:0,1,0,1 "+
		"build/bench/latency-mpicc.mpich flat processes 0 8", line(flat, 2))
	assert.Equal(t, "BENCH_CPUS=0,1,0,1 OMP_NUM_THREADS=2 bin/mpiexec -n 4 -rpp 2 -bind-to user:0,1,0,1 "+
		"build/bench/latency-tpslcc tpsl processes 0 8", line(tpslProcesses, 2))
	assert.Equal(t, "BENCH_CPUS=0,1 OMP_NUM_THREADS=1 bin/mpiexec -n 2 -rpp 2 -bind-to user:0,1 "+
		"build/bench/latency-mpicc.mpich private threads 0 8", line(privateThreads, 1))
	assert.Equal(t, "BENCH_CPUS=0,1 OMP_NUM_THREADS=1 build/bench/two-hosts 0 1 bin/mpiexec -n 2 -rpp 1 -hosts 10.79.0.1,10.79.0.2 -ppn 1 "+
		"-launcher ssh -launcher-exec build/bench/two-hosts -bind-to core build/bench/latency-tpslcc tpsl hosts 0 8", line(tpslHosts, 1))
	assert.Equal(t, "BENCH_CPUS=0,0,1,1,0,0,1,1 OMP_NUM_THREADS=4 OMP_PLACES=threads OMP_PROC_BIND=close bin/mpiexec -n 2 -rpp 1 "+
		"-bind-to user:0+1,0+1 build/bench/latency-mpicc.mpich tags processes 0 8", line(tags, 4))
	assert.Equal(t, "BENCH_CPUS=0,1,0,1 OMP_NUM_THREADS=2 OMP_PLACES=threads OMP_PROC_BIND=close bin/mpiexec -n 1 -rpp 1 "+
		"-bind-to user:0+1,0,1 build/bench/latency-mpicc.mpich fan processes 0 8 : -n 2 build/bench/latency-mpicc.mpich leaf processes 0 8", line(fan, 2))
}

// Every program in every mode, with the fewest rounds: it compares what it receives, and each end finds itself on its CPU.
// Every goal is about benchmarks that were printed.
func TestContestsServeGoals(t *testing.T) {
	testsupport.NothingLeft(t)
	testsupport.Benchmarks(t)
	testsupport.Build(t)
	t.Chdir("../..")
	p := plan{cores: machine.Cores(), cut: 8, quick: true}
	for _, all := range []suite{p.suite(), openMPI(p), progress(p), kernels(p), calls(p), embedded(p), python(p), multiple(p)} {
		t.Run("suite"+all.suffix, func(t *testing.T) { // so that one sees how far it is
			t.Log(all.leftOut)
			require.NoError(t, turns.Compile(t.Context(), all.commands))
			servesGoals(t, all)
		})
	}
	s := flat.run(machine.Cores(), 1, "latency", "0", "8")
	s.Env[0] = "BENCH_CPUS=901,902"
	_, _, err := s.Run(t.Context(), 5*time.Minute)
	require.ErrorContains(t, err, "an end is not on its own CPU of BENCH_CPUS")
}

// servesGoals runs each side of the contests once, and looks whether all goals have their figures.
func servesGoals(t *testing.T, all suite) {
	var found results.Set
	var library turns.LibraryCheck
	for i, c := range all.contests {
		for _, s := range c.Sides {
			if s.Job != "" { // its name is known, and it takes seconds
				require.NoError(t, found.Add(1, "Benchmark"+s.Job+" 1 1 ms/job\n"))
				continue
			}
			begin := time.Now()
			output, _, err := s.Run(t.Context(), max(c.Limit, 5*time.Minute)) // others use the machine, too
			require.NoError(t, err)
			t.Logf("%4d ms: %s", time.Since(begin).Milliseconds(), s.Label())
			lines, seen := turns.TakeLibrary(output)
			_, err = library.See(i, s.Label(), seen)
			require.NoError(t, err)
			require.NoError(t, found.Add(1, lines))
		}
	}
	for _, name := range found.Names() {
		assert.True(t, report.HasColumn(results.ParseName(name).Get("mode")), name)
	}
	for _, g := range all.goals {
		assert.Contains(t, found.Values, g.Name)
		if g.Base != "" {
			assert.Contains(t, found.Values, g.Base)
		}
	}
}

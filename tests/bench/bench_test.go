// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/tests/bench/machine"
	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/results"
)

// The goals are those of the machine and the part that a raw file is of.
func TestGoalsOf(t *testing.T) {
	whats := func(header string) string {
		found, err := results.Read(strings.NewReader("# measured: " + header + "\nBenchmarkStub 1 1 ns/call\n"))
		require.NoError(t, err)
		var all strings.Builder
		for _, g := range goalsOf(found) {
			all.WriteString(g.What + "\n")
		}
		return all.String()
	}
	assert.Contains(t, whats("everything, 16 cores"), "message rate of 16 pairs, tpsl/tags")
	assert.NotContains(t, whats("everything, 2 cores"), "16 pairs")
	assert.Contains(t, whats("everything, 2 cores"), "halo of cube")
	assert.NotContains(t, whats("quick, 2 cores"), "halo of cube")
	assert.Contains(t, whats("copies, 2 cores"), "lib=arpack")
	assert.Contains(t, whats("many, 2 cores"), "start-up of 256 ranks in one process, private/flat")
	assert.Contains(t, whats("many, 2 cores"), "start-up of 256 ranks in one process over that of 64, private")
	assert.Contains(t, whats("collectives, 2 cores"), "barrier of 0 B, 2 ranks, memory/flat")
	assert.Contains(t, whats("kernels, 2 cores"), "keysort of 65536, round, neighbours/tpsl")
	assert.Contains(t, whats("calls, 2 cores"), "conjugate gradients, edge 256, counted/tpsl")
	assert.Contains(t, whats("embedded, 2 cores"), "solution, ranks: 4, embedded/flat")
	assert.Contains(t, whats("python, 2 cores"), "memory of a rank beside a table of 4096 MiB, views")
	assert.Contains(t, whats("rtm, 2 cores"), "step in 3D, 2 workers, ranks/full")
	assert.Contains(t, whats("openmpi, 2 cores"), "16 KiB latency, private/flat")
	assert.Equal(t, "stub over a direct call\n", whats("quick, 2 cores, only micro, or not"))
	assert.Equal(t, "stub over a direct call\n", whats(""), "an older file")

	o, err := parse([]string{"-quick", "-only", "a|b"}, nil)
	require.NoError(t, err)
	assert.Equal(t, fmt.Sprintf("# measured: quick, %d cores, only a|b", len(machine.Cores())), o.measured())
}

func TestOptions(t *testing.T) {
	for args, want := range map[string]string{
		"-no":                     "flag provided but not defined: -no; -h lists the options",
		"-runs 0x":                `invalid value "0x" for flag -runs`,
		"-runs -1":                "-runs -1: needs at least one",
		"-only (":                 "missing closing )",
		"quick":                   `"quick": not an option`,
		"-plot":                   "-plot needs the name of a raw file",
		"-plot " + os.DevNull:     "/dev/null: holds no benchmark",
		"-plot " + "/nowhere/raw": "open /nowhere/raw: no such file",
	} {
		code, err := run(context.Background(), strings.Fields(args), new(strings.Builder), new(strings.Builder))
		assert.Equal(t, report.NotDone, code, args)
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "\n")
	}
	var help strings.Builder
	_, err := run(context.Background(), []string{"-h"}, &help, new(strings.Builder))
	require.ErrorIs(t, err, flag.ErrHelp)
	assert.Contains(t, help.String(), "-quick")

	for args, runs := range map[string]int{"": 10, "-quick": 6, "-quick -runs 3": 3} {
		o, err := parse(strings.Fields(args), nil)
		require.NoError(t, err)
		assert.Equal(t, runs, o.Runs)
		assert.Equal(t, "build/bench/results", o.Out)
	}
}

// -plot makes the summary and plots of a raw file, and the goals' table.
func TestPlot(t *testing.T) {
	raw := filepath.Join(t.TempDir(), "raw.txt")
	text, err := os.ReadFile("plots/testdata/raw.txt")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(raw, text, 0o666))
	var out strings.Builder
	code, err := run(context.Background(), []string{"-plot", raw}, &out, new(strings.Builder))
	require.NoError(t, err)
	assert.Zero(t, code)
	assert.Contains(t, out.String(), "raw.txt, summary.md and 15 plots")
	summary, err := os.ReadFile(filepath.Join(filepath.Dir(raw), "summary.md"))
	require.NoError(t, err)
	for _, want := range []string{
		"# Measured on Some CPU, 16 cpus, 2026-11-05\n",
		"- quiet machine: others used 0.3 %",
		"| cpus | 16, namely 0-15 |\n",
		"![Latency of one pair of ranks](latency.svg)\n",
		"| Latency | flat | tags | tpsl | tpsl/flat | tpsl/tags |\n|---|---:|---:|---:|---:|---:|\n",
		"| between threads, pairs 1, size 8 | 0.3", // flat's is that of two processes
		"| HandOver |  |\n|---|---:|\n|  | 109 ns |\n",
	} {
		assert.Contains(t, string(summary), want)
	}
	assert.FileExists(t, filepath.Join(filepath.Dir(raw), "latency.png"))
}

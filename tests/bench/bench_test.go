// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/tests/bench/results"
)

func sample(unit string, values ...float64) map[int]results.Value {
	m := map[int]results.Value{}
	for turn, v := range values {
		m[turn+1] = results.Value{Number: v, Unit: unit}
	}
	return m
}

func TestReport(t *testing.T) {
	ratio := func(tpsl, flat map[int]results.Value) map[string]map[int]results.Value {
		return map[string]map[int]results.Value{"T": tpsl, "F": flat}
	}
	six := func(v float64) map[int]results.Value { return sample("us", v, v, v, v, v, v) }
	rate := func(v float64) map[int]results.Value { return sample("GB/s", v, v, v, v, v, v) }
	cases := map[string]struct {
		goal    goal
		found   map[string]map[int]results.Value
		missed  int
		verdict string
	}{
		"at most, reached":     {goal{base: "F", atMost: 1.05}, ratio(six(1.0), six(1.0)), 0, "reached"},
		"at most, missed":      {goal{base: "F", atMost: 1.05}, ratio(six(1.1), six(1.0)), 1, "MISSED"},
		"at least, reached":    {goal{base: "F", atLeast: 1.25}, ratio(six(2.6), six(2.0)), 0, "reached"},
		"at least, missed":     {goal{base: "F", atLeast: 1.25}, ratio(six(2.4), six(2.0)), 1, "MISSED"},
		"interval holds 1":     {goal{base: "F", notWorse: true}, ratio(sample("", 0.9, 1.1, 1.1, 1.1, 1.1, 1.2), six(1)), 0, "reached"},
		"interval above 1":     {goal{base: "F", notWorse: true}, ratio(six(1.01), six(1)), 1, "MISSED"},
		"a rate above 1":       {goal{base: "F", notWorse: true}, ratio(rate(1.01), rate(1)), 0, "reached"},
		"a rate below 1":       {goal{base: "F", notWorse: true}, ratio(rate(0.99), rate(1)), 1, "MISSED"},
		"absolute":             {goal{atMost: 2}, ratio(six(1.5), nil), 0, "1.5 us"},
		"no goal":              {goal{base: "F"}, ratio(six(3), six(1)), 0, "3"},
		"not measured":         {goal{atMost: 2}, nil, 1, "not measured: no value of T"},
		"no base, not a bound": {goal{base: "F"}, ratio(six(1), nil), 0, "not measured: no value of F"},
		"too few for a bound":  {goal{base: "F", atMost: 2}, ratio(sample("", 1), sample("", 1)), 0, "too few runs"},
		"not worse, too few":   {goal{base: "F", notWorse: true}, ratio(sample("", 1), sample("", 1)), 1, "too few runs to tell"},
		"only turns of both":   {goal{base: "F", atMost: 1}, ratio(sample("", 9, 1), map[int]results.Value{2: {Number: 1}}), 0, "reached"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.goal.what, c.goal.name = "thing", "T"
			var out strings.Builder
			assert.Equal(t, c.missed, report(&out, &results.Set{Values: c.found}, []goal{c.goal}))
			assert.Contains(t, out.String(), c.verdict)
		})
	}
}

// The goals are those of the machine and the part that a raw file is of.
func TestGoalsOf(t *testing.T) {
	whats := func(header string) string {
		found, err := results.Read(strings.NewReader("# measured: " + header + "\nBenchmarkStub 1 1 ns/call\n"))
		require.NoError(t, err)
		var all strings.Builder
		for _, g := range goalsOf(found) {
			all.WriteString(g.what + "\n")
		}
		return all.String()
	}
	assert.Contains(t, whats("everything, 16 cores"), "message rate of 16 pairs, tpsl/tags")
	assert.NotContains(t, whats("everything, 2 cores"), "16 pairs")
	assert.Contains(t, whats("everything, 2 cores"), "halo of cube")
	assert.NotContains(t, whats("quick, 2 cores"), "halo of cube")
	assert.Contains(t, whats("copies, 2 cores"), "lib=arpack")
	assert.Equal(t, "stub over a direct call\n", whats("quick, 2 cores, only micro, or not"))
	assert.Equal(t, "stub over a direct call\n", whats(""), "an older file")

	o, err := parse([]string{"-quick", "-only", "a|b"}, nil)
	require.NoError(t, err)
	assert.Equal(t, fmt.Sprintf("# measured: quick, %d cores, only a|b", len(usableCores())), o.measured())
}

func TestField(t *testing.T) {
	assert.Equal(t, "4.0.2", field("x: 1\nMPICH Version:    \t4.0.2\n", "MPICH Version"))
	assert.Equal(t, "unknown", field("x: 1\n", "y"))
}

func TestLabel(t *testing.T) {
	s := side{env: []string{"A=1"}, argv: []string{"bin/mpiexec", "-n", "2", "build/bench/latency-mpicc.mpich", "flat", "20"}}
	assert.Equal(t, "latency flat 20 (A=1 -n 2)", s.label())
	assert.Equal(t, []string{"A=1"}, s.env)
	assert.Equal(t, "pmi 3", side{argv: []string{"build/bench/pmi-gcc", "3"}}.label())
	assert.Equal(t, "J", side{job: "J", argv: s.argv}.label())
	assert.Equal(t, "true", side{argv: []string{"true"}}.label())

	all := []contest{{time.Second, []side{s, {job: "J"}}}, {time.Second, []side{{job: "K"}}}}
	assert.Equal(t, []contest{{time.Second, []side{{job: "J"}}}}, only(all, regexp.MustCompile("J|x")))
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
		assert.Equal(t, notDone, code, args)
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "\n")
	}
	var help strings.Builder
	code, err := run(context.Background(), []string{"-h"}, &help, new(strings.Builder))
	require.NoError(t, err)
	assert.Zero(t, code)
	assert.Contains(t, help.String(), "-quick")

	for args, runs := range map[string]int{"": 10, "-quick": 6, "-quick -runs 3": 3} {
		o, err := parse(strings.Fields(args), nil)
		require.NoError(t, err)
		assert.Equal(t, runs, o.runs)
		assert.Equal(t, "build/bench/results", o.out)
	}
}

func TestNewFolder(t *testing.T) {
	parent := filepath.Join(t.TempDir(), "a", "b")
	day := time.Date(2026, 11, 5, 0, 0, 0, 0, time.UTC)
	for _, want := range []string{"2026-11-05-some-cpu-4-cpus", "2026-11-05-some-cpu-4-cpus-2", "2026-11-05-some-cpu-4-cpus-3"} {
		path, err := newFolder(parent, day, "Some CPU", 4)
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(parent, strings.Replace(want, "-cpu-", "-", 1)), path)
		assert.DirExists(t, path)
	}
	for cpu, want := range map[string]string{
		"Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz": "intel-xeon-platinum-8375c",
		"AMD EPYC 7742 64-Core Processor":               "amd-epyc-7742",
		"AMD EPYC":                                      "amd-epyc",
	} {
		assert.Equal(t, want, plain(cpu))
	}
}

const stat = "cpu  100 10 40 800 20 5 5 20 7 0\ncpu0 1 2\n"

func TestLoad(t *testing.T) {
	l, err := parseStat(stat)
	require.NoError(t, err)
	assert.Equal(t, load{busy: 1600 * time.Millisecond, stolen: 200 * time.Millisecond, all: 10 * time.Second}, l)
	for _, text := range []string{"", "cpu 1 2 3", "cpu a b c d e f g h"} {
		_, err := parseStat(text)
		assert.ErrorContains(t, err, "/proc/stat")
	}

	later := load{busy: l.busy + 5*time.Second, stolen: l.stolen, all: l.all + 10*time.Second, ours: 4900 * time.Millisecond}
	assert.Equal(t, "quiet machine: others used 1.0 % of the processors' time during the run, the hypervisor took 0.0 %", later.since(l))
	later.stolen += 300 * time.Millisecond
	assert.Contains(t, later.since(l), "BUSY machine: others used 1.0 %")
	assert.Contains(t, l.since(l), "too short")

	now, err := readLoad()
	require.NoError(t, err)
	assert.Positive(t, now.ours)
}

func TestLibraryCheck(t *testing.T) {
	rest, seen := takeLibrary("library: /a/libmpich.so.12  /a/libucp.so.0\nBenchmarkA 1 2 us\n")
	assert.Equal(t, "BenchmarkA 1 2 us\n", rest)
	assert.Equal(t, []string{"/a/libmpich.so.12 /a/libucp.so.0"}, seen)

	one, other := []string{"/a/libmpich.so"}, []string{"/b/libmpich.so"}
	var c libraryCheck
	first, err := c.see(0, "flat", one)
	require.NoError(t, err)
	assert.True(t, first)
	first, err = c.see(0, "tpsl", one)
	require.NoError(t, err)
	assert.False(t, first)
	_, err = c.see(1, "no MPI", nil)
	require.NoError(t, err)

	_, err = c.see(2, "tpsl", other)
	require.EqualError(t, err, "refuse to compare different libraries: flat ran /a/libmpich.so, tpsl ran /b/libmpich.so")
	_, err = c.see(0, "tpsl", nil)
	require.ErrorContains(t, err, "flat says which MPI library it ran, tpsl does not")
	_, err = c.see(1, "tpsl", one)
	require.ErrorContains(t, err, "another side of its contest does not")
	_, err = c.see(3, "tpsl", []string{""})
	require.ErrorContains(t, err, "neither libmpich nor libmpi")
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

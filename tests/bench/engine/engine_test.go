// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/tests/bench/machine"
	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/results"
)

// A side is measured by this binary, as if it were the command.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "-measure") {
		register(bench{name: "Test", measure: measureTest})
		main()
	}
	os.Exit(m.Run())
}

func measureTest(m *meter) error {
	if m.side.Get("kind") == "bad" {
		return errors.New("a wrong answer")
	}
	rounds, took, err := m.repeat(func(rounds int) (time.Duration, error) {
		begin := time.Now()
		err := m.together(2, func(int) error {
			time.Sleep(time.Duration(rounds) * time.Millisecond)
			return nil
		})
		return time.Since(begin), err
	})
	m.print(rounds, microsecondsOf(took, rounds), "us/op", fmt.Sprintf("threads=%d", m.threads[0]))
	return err
}

// add registers a sub-benchmark for one test.
func add(t *testing.T, b bench) {
	register(b)
	t.Cleanup(func() { delete(benches, b.name) })
}

// command runs the command in a folder of its own.
func command(t *testing.T, args ...string) (code int, out string, err error) {
	var stdout, stderr strings.Builder
	code, err = run(t.Context(), args, &stdout, &stderr)
	return code, stdout.String(), err
}

func TestSides(t *testing.T) {
	testsupport.NothingLeft(t)
	t.Chdir(t.TempDir())
	add(t, bench{
		name: "Test", about: "what a test needs", limit: time.Minute, cores: 1 << 20,
		sides: func(plan) []string { return []string{"Test/kind=good", "Test/kind=bad"} },
		goals: []report.Goal{{What: "good", Name: "Test/kind=good/threads=7", AtLeast: 1e9}, {What: "other", Name: "Other", AtMost: 1}},
	})
	code, out, err := command(t, "-quick", "-runs", "2", "-threads", "7,9", "-only", "Test/kind=good", "-out", "out", "-check")
	require.EqualError(t, err, "1 goals not reached")
	assert.Equal(t, report.NotReached, code)
	assert.NotContains(t, out, "other", "-only chose")
	raw, err := filepath.Glob("out/*-engine/raw.txt")
	require.NoError(t, err)
	require.Len(t, raw, 1)
	f, err := os.Open(raw[0])
	require.NoError(t, err)
	defer f.Close()
	found, err := results.Read(f)
	require.NoError(t, err)
	require.Len(t, found.Values["Test/kind=good/threads=7"], 2)
	value := found.Values["Test/kind=good/threads=7"][1]
	assert.Equal(t, "us/op", value.Unit)
	assert.Greater(t, value.Number, 1000.0, "a round sleeps a millisecond")
	require.NotEmpty(t, found.Notes)
	assert.Contains(t, found.Notes[0], "do not show Test (what a test needs); on 1048576 or more: scripts/bench-engine -only '^Test'")

	_, out, err = command(t, "-plot", raw[0])
	require.NoError(t, err)
	assert.Contains(t, out, "UNDECIDED", "two runs give no interval")

	code, _, err = command(t, "-quick", "-runs", "1", "-only", "kind=bad")
	assert.Equal(t, report.NotDone, code)
	require.Error(t, err)
}

// Another build's sides run in the same turns, and each figure is compared with its own.
func TestAgainst(t *testing.T) {
	testsupport.NothingLeft(t)
	t.Chdir(t.TempDir())
	add(t, bench{name: "Test", limit: time.Minute, sides: func(plan) []string { return []string{"Test/kind=good"} }})
	self, err := os.Executable()
	require.NoError(t, err)
	other := filepath.Join(t.TempDir(), "other")
	require.NoError(t, os.Symlink(self, other))
	_, out, err := command(t, "-quick", "-runs", "1", "-threads", "7", "-only", "Test/kind=good$", "-against", other, "-out", "out")
	require.NoError(t, err)
	assert.Regexp(t, `Test/kind=good/threads=7, now/before +[0-9.]+ +too few runs +1 +not worse +UNDECIDED`, out)
}

// What sides print is what goals are about.
func TestSidesServeGoals(t *testing.T) {
	testsupport.NothingLeft(t)
	p := plan{cores: machine.Cores(), threads: []int{1}, quick: true, figure: time.Millisecond}
	var found results.Set
	for _, kind := range []string{"Latency", "Rate", "Match"} {
		for _, name := range benches[kind].sides(p) {
			if model := results.ParseName(name).Get("model"); model != "" && model != "global" {
				continue // no goal is about it
			}
			var out strings.Builder
			require.NoError(t, benches[kind].measure(&meter{p, results.ParseName(name), &out}), name)
			require.NoError(t, found.Add(1, out.String()))
		}
	}
	for _, b := range benches {
		for _, c := range b.contestsOf(p, []string{"command"}) {
			for _, s := range c.Sides {
				assert.True(t, report.HasColumn(results.ParseName(s.Name).Get("mode")), s.Name)
			}
		}
	}
	for _, kind := range []string{"Latency", "Rate", "Match"} {
		for _, g := range benches[kind].goals {
			for _, name := range []string{g.Name, g.Base} {
				if name != "" && !strings.Contains(name, "mode=flat") && !strings.HasPrefix(name, "Memcpy") && name != "HandOver" {
					assert.Contains(t, found.Values, name)
				}
			}
		}
	}
}

// A goal that was not measured is one that was not reached, unless -only left it out.
func TestGoals(t *testing.T) {
	for header, want := range map[string]bool{"everything, 2 cores": true, "everything, 2 cores, only Match": false} {
		found, err := results.Read(strings.NewReader("# measured: " + header + "\nBenchmarkMatch/matcher=table/pending=10 1 5 ns/msg\n"))
		require.NoError(t, err)
		assert.Equal(t, want, slices.ContainsFunc(goals(found), func(g report.Goal) bool { return g.Name == latency+"/size=8" }), header)
	}
}

func TestOptions(t *testing.T) {
	for args, want := range map[string]string{
		"-no":            "flag provided but not defined: -no; -h lists the options",
		"-runs -1":       "-runs -1: needs at least one",
		"-threads 1,x":   "-threads 1,x: needs a list of numbers, such as 1,2,4",
		"-threads 0":     "-threads 0: needs a list",
		"-only (":        "missing closing )",
		"quick":          `"quick": not an option`,
		"-plot":          "-plot needs the name of a raw file",
		"-only nothing":  "-only nothing: matches nothing that is measured; -list names what is",
		"-measure Y/x=1": "-measure Y/x=1: no such side",
	} {
		code, _, err := command(t, strings.Fields(args)...)
		assert.Equal(t, report.NotDone, code, args)
		require.ErrorContains(t, err, want)
	}
	_, out, err := command(t, "-h")
	require.ErrorIs(t, err, flag.ErrHelp)
	assert.Contains(t, out, "-quick")
	_, out, err = command(t, "-list")
	require.NoError(t, err)
	for _, b := range inOrder() {
		assert.NotEmpty(t, b.about, b.name)
		assert.Contains(t, out, b.about)
	}
}

// A batch that takes longer than the others decides nothing.
func TestRepeat(t *testing.T) {
	m := &meter{plan: plan{figure: usualFigure}}
	runs := 0
	rounds, took, err := m.repeat(func(rounds int) (time.Duration, error) {
		if runs++; runs%3 == 0 {
			return time.Second, nil
		}
		return time.Duration(rounds) * time.Millisecond, nil
	})
	require.NoError(t, err)
	assert.Equal(t, time.Duration(rounds)*time.Millisecond, took)
	wrong := errors.New("a wrong answer")
	_, _, err = m.repeat(func(int) (time.Duration, error) { return 0, wrong })
	require.ErrorIs(t, err, wrong)
}

func TestPerRound(t *testing.T) {
	assert.InDelta(t, 250, nanosecondsOf(time.Microsecond, 4), 1e-9)
	assert.InDelta(t, 2, microsecondsOf(10*time.Microsecond, 5), 1e-9)
	assert.InDelta(t, 4, millionsOf(time.Microsecond, 4), 1e-9)
}

// Every side bears the name of its sub-benchmark, by which it is found, and every goal is of one.
func TestNames(t *testing.T) {
	p := plan{cores: []int{0, 1}, threads: []int{1, 2}, quick: true}
	for _, b := range inOrder() {
		if b.sides != nil {
			for _, name := range b.sides(p) {
				assert.Equal(t, b.name, results.ParseName(name).Kind)
			}
			assert.NotNil(t, b.measure, b.name)
			assert.NotZero(t, b.limit, b.name)
		}
	}
	require.Panics(t, func() { register(inOrder()[0]) })
}

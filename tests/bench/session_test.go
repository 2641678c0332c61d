// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// session measures contests, and returns what it wrote.
func measured(t *testing.T, turns int, contests ...contest) (m *session, raw string, err error) {
	t.Helper()
	var out strings.Builder
	m = newSession(&out, &progress{w: new(strings.Builder)}, contests, turns)
	err = m.measure(context.Background())
	return m, out.String(), err
}

func TestTurns(t *testing.T) {
	testsupport.NothingLeft(t)
	m, raw, err := measured(t, 2,
		contest{time.Minute, []side{
			{argv: []string{"printf", "library: /libmpich.so\nBenchmarkA/mode=x 5 0.41 us/msg\n"}},
			{argv: []string{"printf", "library: /libmpich.so\nBenchmarkB 5 3 ns/call\n"}},
		}},
		contest{time.Minute, []side{{argv: []string{"echo", "hi"}, job: "J", want: "hi\n"}}})
	require.NoError(t, err)
	assert.Equal(t, sample("us/msg", 0.41, 0.41), m.found.Values["A/mode=x"])
	assert.Equal(t, sample("ns/call", 3, 3), m.found.Values["B"])
	assert.Len(t, m.found.Values["J"], 2)
	var order []string
	for line := range strings.Lines(raw) {
		order = append(order, line[:min(len(line)-1, len("BenchmarkA"))])
	}
	assert.Equal(t, []string{"# turn 1", "# mpi-libr", "BenchmarkA", "BenchmarkB", "BenchmarkJ",
		"# turn 2", "BenchmarkA", "BenchmarkB", "BenchmarkJ"}, order)
	assert.Zero(t, m.failed)
}

func TestWithoutAnswer(t *testing.T) {
	testsupport.NothingLeft(t)
	const hang = 50 * time.Millisecond
	cases := map[string]struct {
		side   side
		limit  time.Duration
		failed int
		want   string // a note
	}{
		"hangs, as is known": {side{argv: []string{"sleep", "60"}, hangs: true}, hang, 0, "sleep 60: no answer, 3 times: sleep 60: no end in time: 50ms"},
		"hangs":              {side{argv: []string{"sleep", "60"}}, hang, 1, "FAILED, not run again: sleep 60: sleep 60: no end in time: 50ms"},
		"fails":              {side{argv: []string{"false"}}, time.Minute, 1, "false: exit code 1"},
		"wrong answer":       {side{argv: []string{"echo", "ho"}, job: "J", want: "hi\n"}, time.Minute, 1, `echo ho: printed "ho\n", expected "hi\n"`},
		"no benchmark line":  {side{argv: []string{"echo", "BenchmarkX oops"}}, time.Minute, 1, "output:1"},
		"no such program":    {side{argv: []string{"/nowhere"}}, time.Minute, 1, "start /nowhere"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m, raw, err := measured(t, maxHangs+1,
				contest{c.limit, []side{c.side}}, contest{time.Minute, []side{{argv: []string{"echo", "BenchmarkB 1 1 us"}}}})
			require.NoError(t, err)
			assert.Equal(t, c.failed, m.failed)
			require.Len(t, m.found.Notes, 1)
			assert.Contains(t, m.found.Notes[0], c.want)
			assert.Contains(t, raw, "# note: "+m.found.Notes[0]+"\n")
			assert.Len(t, m.found.Values["B"], maxHangs+1, "the other side goes on")
		})
	}
}

func TestDifferentLibraries(t *testing.T) {
	_, raw, err := measured(t, 1, contest{time.Minute, []side{
		{argv: []string{"echo", "library: /a/libmpich.so"}},
		{argv: []string{"echo", "library: /b/libmpich.so"}},
		{argv: []string{"echo", "BenchmarkB 1 1 us"}},
	}})
	require.ErrorContains(t, err, "refuse to compare different libraries")
	assert.Contains(t, raw, "# note: partial: ended in turn 1 of 1: refuse")
	assert.NotContains(t, raw, "BenchmarkB")
}

func TestInterrupt(t *testing.T) {
	testsupport.NothingLeft(t)
	began := filepath.Join(t.TempDir(), "began")
	ctx, cancel := context.WithCancel(context.Background())
	var out strings.Builder
	m := newSession(&out, &progress{w: new(strings.Builder)}, []contest{{time.Minute, []side{
		{argv: []string{"echo", "BenchmarkB 1 1 us"}},
		{argv: []string{"sh", "-c", "echo >" + began + "; sleep 60"}},
	}}}, 2)
	go func() {
		for ; ; time.Sleep(time.Millisecond) {
			if _, err := os.Stat(began); err == nil {
				cancel()
				return
			}
		}
	}()
	begin := time.Now()
	require.ErrorIs(t, m.measure(ctx), context.Canceled)
	assert.Less(t, time.Since(begin), 20*time.Second)
	assert.Len(t, m.found.Values["B"], 1)
	assert.Equal(t, []string{"partial: interrupted in turn 1 of 2"}, m.found.Notes)
}

func TestExitCodes(t *testing.T) {
	testsupport.NothingLeft(t)
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll(builtFolder, 0o777))
	require.NoError(t, os.WriteFile(builtFile, []byte("mpich: none\n"), 0o666))
	done, cancel := context.WithCancel(context.Background())
	cancel()
	// Its goal is at most 2. It takes some ticks of the clock, by which a busy machine is told.
	stub := side{argv: []string{"sh", "-c", "sleep .02; echo BenchmarkStub 1 3 ns/call"}}
	for name, c := range map[string]struct {
		ctx  context.Context
		side side
		o    options
		code int
		want string
	}{
		"done":         {t.Context(), stub, options{}, 0, ""},
		"goal missed":  {t.Context(), stub, options{check: true}, goalMissed, "1 goals missed"},
		"failed":       {t.Context(), side{argv: []string{"sh", "-c", "echo BenchmarkA 1 1 us; false"}}, options{check: true}, notDone, "1 commands failed"},
		"no libraries": {t.Context(), side{argv: []string{"echo", "library:"}}, options{}, notDone, "found neither libmpich nor libmpi"},
		"interrupted":  {done, stub, options{}, interrupted, "interrupted; the results are partial"},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.runs, c.o.out, c.o.only = 6, "out", regexp.MustCompile(".")
			code, err := c.o.bench(c.ctx, suite{contests: []contest{{time.Minute, []side{c.side}}}, leftOut: []string{"the moon"}},
				new(strings.Builder), new(strings.Builder))
			assert.Equal(t, c.code, code)
			if c.want == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, c.want)
			}
		})
	}
	raw, err := filepath.Glob("out/*/raw.txt")
	require.NoError(t, err)
	require.Len(t, raw, 5)
	var text []byte // of all, whose order is open
	for _, file := range raw {
		more, err := os.ReadFile(file)
		require.NoError(t, err)
		text = append(text, more...)
	}
	for _, want := range []string{"SPDX-License", "\ncpu: ", "\nmpich: none\n", "\n# note: left out: the moon\n", " machine: others used "} {
		assert.Contains(t, string(text), want)
	}
}

func TestTimeLeft(t *testing.T) {
	m := newSession(nil, nil, []contest{{0, make([]side, 3)}}, 3)
	assert.Equal(t, "time left unknown", m.left(1, 0))
	m.entrants[0].took = 10 * time.Second
	assert.Equal(t, "1 min left", m.left(1, 1), "two more of the first, three each of two others")
	m.entrants[1].took, m.entrants[1].dropped = 20*time.Second, true
	m.entrants[2].took = time.Second
	assert.Equal(t, "12 s left", m.left(2, 1))
}

func TestProgress(t *testing.T) {
	var out strings.Builder
	p := progress{w: &out}
	p.tell("one")
	p.tell("two")
	p.finish()
	assert.Equal(t, "one\n", out.String(), "now and then")

	out.Reset()
	p = progress{w: &out, terminal: true}
	p.tell("one")
	p.tell(strings.Repeat("x", 100))
	p.finish()
	assert.Equal(t, "\r\x1b[Kone\r\x1b[K"+strings.Repeat("x", 79)+"\n", out.String())
}

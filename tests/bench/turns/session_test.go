// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package turns

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/tests/bench/results"
)

// session measures contests, and returns what it wrote.
func measured(t *testing.T, turns int, contests ...Contest) (m *Session, raw string, err error) {
	t.Helper()
	var out strings.Builder
	m = New(&out, &Progress{w: new(strings.Builder)}, contests, turns)
	err = m.Measure(context.Background())
	return m, out.String(), err
}

func TestTurns(t *testing.T) {
	testsupport.NothingLeft(t)
	m, raw, err := measured(t, 2,
		Contest{Limit: time.Minute, Sides: []Side{
			{Argv: []string{"printf", "library: /libmpich.so\nBenchmarkA/mode=x 5 0.41 us/msg\n"}},
			{Argv: []string{"printf", "library: /libmpich.so\nBenchmarkB 5 3 ns/call\n"}},
		}},
		Contest{Limit: time.Minute, Sides: []Side{{Argv: []string{"echo", "hi"}, Job: "J", Want: "hi\n"}}},
		Contest{Limit: time.Minute, Sides: []Side{{Argv: []string{"echo", "hi"}, Job: "K", Want: "hi\n"}}, Turns: 1})
	require.NoError(t, err)
	assert.Equal(t, map[int]results.Value{1: {Number: 0.41, Unit: "us/msg"}, 2: {Number: 0.41, Unit: "us/msg"}}, m.found.Values["A/mode=x"])
	assert.Equal(t, map[int]results.Value{1: {Number: 3, Unit: "ns/call"}, 2: {Number: 3, Unit: "ns/call"}}, m.found.Values["B"])
	assert.Len(t, m.found.Values["J"], 2)
	var order []string
	for line := range strings.Lines(raw) {
		order = append(order, line[:min(len(line)-1, len("BenchmarkA"))])
	}
	assert.Equal(t, []string{"# turn 1", "# mpi-libr", "BenchmarkA", "BenchmarkB", "BenchmarkJ", "BenchmarkK",
		"# turn 2", "BenchmarkJ", "BenchmarkB", "BenchmarkA"}, order)
	assert.Zero(t, m.failed)
}

func TestWithoutAnswer(t *testing.T) {
	testsupport.NothingLeft(t)
	const hang = 50 * time.Millisecond
	cases := map[string]struct {
		side   Side
		limit  time.Duration
		failed int
		want   string // a note
	}{
		"hangs, as is known": {Side{Argv: []string{"sleep", "60"}, Hangs: true}, hang, 0, "sleep 60: no answer, 3 times: sleep 60: no end in time: 50ms"},
		"hangs":              {Side{Argv: []string{"sleep", "60"}}, hang, 1, "FAILED, not run again: sleep 60: sleep 60: no end in time: 50ms"},
		"fails":              {Side{Argv: []string{"false"}}, time.Minute, 1, "false: exit code 1"},
		"wrong answer":       {Side{Argv: []string{"echo", "ho"}, Job: "J", Want: "hi\n"}, time.Minute, 1, `echo ho: printed "ho\n", expected "hi\n"`},
		"no benchmark line":  {Side{Argv: []string{"echo", "BenchmarkX oops"}}, time.Minute, 1, "output:1"},
		"no such program":    {Side{Argv: []string{"/nowhere"}}, time.Minute, 1, "start /nowhere"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m, raw, err := measured(t, maxHangs+1,
				Contest{Limit: c.limit, Sides: []Side{c.side}}, Contest{Limit: time.Minute, Sides: []Side{{Argv: []string{"echo", "BenchmarkB 1 1 us"}}}})
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
	_, raw, err := measured(t, 1, Contest{Limit: time.Minute, Sides: []Side{
		{Argv: []string{"echo", "library: /a/libmpich.so"}},
		{Argv: []string{"echo", "library: /b/libmpich.so"}},
		{Argv: []string{"echo", "BenchmarkB 1 1 us"}},
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
	m := New(&out, &Progress{w: new(strings.Builder)}, []Contest{{Limit: time.Minute, Sides: []Side{
		{Argv: []string{"echo", "BenchmarkB 1 1 us"}},
		{Argv: []string{"sh", "-c", "echo >" + began + "; sleep 60"}},
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
	require.ErrorIs(t, m.Measure(ctx), context.Canceled)
	assert.Less(t, time.Since(begin), 20*time.Second)
	assert.Len(t, m.found.Values["B"], 1)
	assert.Equal(t, []string{"partial: interrupted in turn 1 of 2"}, m.found.Notes)
}

func TestTimeLeft(t *testing.T) {
	m := New(nil, nil, []Contest{{Sides: make([]Side, 3)}}, 3)
	assert.Equal(t, "time left unknown", m.left(1, 0))
	m.entrants[0].took = 10 * time.Second
	assert.Equal(t, "1 min left", m.left(1, 1), "two more of the first, three each of two others")
	m.entrants[1].took, m.entrants[1].dropped = 20*time.Second, true
	m.entrants[2].took = time.Second
	assert.Equal(t, "12 s left", m.left(2, 1))
}

func TestProgress(t *testing.T) {
	var out strings.Builder
	p := Progress{w: &out}
	p.tell("one")
	p.tell("two")
	p.Finish()
	assert.Equal(t, "one\n", out.String(), "now and then")

	out.Reset()
	p = Progress{w: &out, terminal: true}
	p.tell("one")
	p.tell(strings.Repeat("x", 100))
	p.Finish()
	assert.Equal(t, "\r\x1b[Kone\r\x1b[K"+strings.Repeat("x", 79)+"\n", out.String())
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package report

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
	"github.com/tpsl/tpsl/tests/bench/turns"
)

func TestExitCodes(t *testing.T) {
	testsupport.NothingLeft(t)
	t.Chdir(t.TempDir())
	done, cancel := context.WithCancel(context.Background())
	cancel()
	// It takes some ticks of the clock, by which a busy machine is told.
	stub := turns.Side{Argv: []string{"sh", "-c", "sleep .02; echo BenchmarkStub 1 3 ns/call"}}
	for name, c := range map[string]struct {
		ctx   context.Context
		side  turns.Side
		check bool
		code  int
		want  string
	}{
		"done":         {t.Context(), stub, false, 0, ""},
		"goal missed":  {t.Context(), stub, true, NotReached, "1 goals not reached"},
		"failed":       {t.Context(), turns.Side{Argv: []string{"sh", "-c", "echo BenchmarkA 1 1 us; false"}}, true, NotDone, "1 commands failed"},
		"no libraries": {t.Context(), turns.Side{Argv: []string{"echo", "library:"}}, false, NotDone, "found neither libmpich nor libmpi"},
		"interrupted":  {done, stub, false, Interrupted, "interrupted; the results are partial"},
	} {
		t.Run(name, func(t *testing.T) {
			r := Run{
				Options: Options{Out: "out", Runs: 6, Check: c.check}, Header: "mpich: none", Notes: []string{"left out: the moon"},
				Contests: []turns.Contest{{Limit: time.Minute, Sides: []turns.Side{c.side}}},
				Maker:    Maker{Goals: func(*results.Set) []Goal { return []Goal{{What: "stub", Name: "Stub", AtMost: 2}} }},
			}
			code, err := r.Measure(c.ctx, new(strings.Builder), new(strings.Builder))
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

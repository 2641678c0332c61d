// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"path/filepath"
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
		goal    Goal
		found   map[string]map[int]results.Value
		missed  int
		verdict string
	}{
		"at most, reached":     {Goal{Base: "F", AtMost: 1.05}, ratio(six(1.0), six(1.0)), 0, "reached"},
		"at most, missed":      {Goal{Base: "F", AtMost: 1.05}, ratio(six(1.1), six(1.0)), 1, "MISSED"},
		"at least, reached":    {Goal{Base: "F", AtLeast: 1.25}, ratio(six(2.6), six(2.0)), 0, "reached"},
		"at least, missed":     {Goal{Base: "F", AtLeast: 1.25}, ratio(six(2.4), six(2.0)), 1, "MISSED"},
		"interval holds 1":     {Goal{Base: "F", NotWorse: true}, ratio(sample("", 0.9, 1.1, 1.1, 1.1, 1.1, 1.2), six(1)), 0, "reached"},
		"interval above 1":     {Goal{Base: "F", NotWorse: true}, ratio(six(1.01), six(1)), 1, "MISSED"},
		"a rate above 1":       {Goal{Base: "F", NotWorse: true}, ratio(rate(1.01), rate(1)), 0, "reached"},
		"a rate below 1":       {Goal{Base: "F", NotWorse: true}, ratio(rate(0.99), rate(1)), 1, "MISSED"},
		"absolute":             {Goal{AtMost: 2}, ratio(six(1.5), nil), 0, "1.5 us"},
		"no goal":              {Goal{Base: "F"}, ratio(six(3), six(1)), 0, "3"},
		"not measured":         {Goal{AtMost: 2}, nil, 1, "not measured: no value of T"},
		"no base, not a bound": {Goal{Base: "F"}, ratio(six(1), nil), 0, "not measured: no value of F"},
		"too few for a bound":  {Goal{Base: "F", AtMost: 2}, ratio(sample("", 1), sample("", 1)), 0, "too few runs"},
		"not worse, too few":   {Goal{Base: "F", NotWorse: true}, ratio(sample("", 1), sample("", 1)), 1, "too few runs to tell"},
		"only turns of both":   {Goal{Base: "F", AtMost: 1}, ratio(sample("", 9, 1), map[int]results.Value{2: {Number: 1}}), 0, "reached"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.goal.What, c.goal.Name = "thing", "T"
			var out strings.Builder
			assert.Equal(t, c.missed, table(&out, &results.Set{Values: c.found}, []Goal{c.goal}))
			assert.Contains(t, out.String(), c.verdict)
		})
	}
}

func TestNewFolder(t *testing.T) {
	parent := filepath.Join(t.TempDir(), "a", "b")
	day := time.Date(2026, 11, 5, 0, 0, 0, 0, time.UTC)
	for _, want := range []string{"2026-11-05-some-cpu-4-cpus", "2026-11-05-some-cpu-4-cpus-2", "2026-11-05-some-cpu-4-cpus-3"} {
		path, err := newFolder(parent, day, "Some CPU", 4, "")
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

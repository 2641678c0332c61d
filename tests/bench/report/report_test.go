// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"
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
		open    int
		verdict string
	}{
		"reached":              {Goal{Base: "F", AtMost: 1.05}, ratio(six(1.0), six(1.0)), 0, "reached"},
		"missed":               {Goal{Base: "F", AtMost: 1.05}, ratio(six(1.1), six(1.0)), 1, "MISSED"},
		"undecided":            {Goal{Base: "F", AtLeast: 1}, ratio(sample("us", 0.9, 1, 1.2, 1.2, 1.2, 1.2), six(1)), 1, "UNDECIDED"},
		"a longer time":        {Goal{Base: "F", NotWorse: true}, ratio(six(1.2), six(1)), 1, "MISSED"},
		"a higher rate":        {Goal{Base: "F", NotWorse: true}, ratio(rate(1.2), rate(1)), 0, "reached"},
		"a lower rate":         {Goal{Base: "F", NotWorse: true}, ratio(rate(0.8), rate(1)), 1, "MISSED"},
		"absolute":             {Goal{AtMost: 2}, ratio(six(1.5), nil), 0, "1.5 us"},
		"no goal":              {Goal{Base: "F"}, ratio(six(3), six(1)), 0, "3"},
		"not measured":         {Goal{AtMost: 2}, nil, 1, "not measured: no value of T"},
		"no base, not a bound": {Goal{Base: "F"}, ratio(six(1), nil), 0, "not measured: no value of F"},
		"too few runs":         {Goal{Base: "F", AtMost: 2}, ratio(sample("", 1, 1, 1, 1, 1), six(1)), 1, "UNDECIDED"},
		"too few, not worse":   {Goal{Base: "F", NotWorse: true}, ratio(sample("", 1), sample("", 1)), 1, "UNDECIDED"},
		"only turns of both":   {Goal{Base: "F"}, ratio(sample("", 9, 1), map[int]results.Value{2: {Number: 1}}), 0, "1 "},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.goal.What, c.goal.Name = "thing", "T"
			var out strings.Builder
			assert.Equal(t, c.open, table(&out, &results.Set{Values: c.found}, []Goal{c.goal}))
			assert.Contains(t, out.String(), c.verdict)
		})
	}
}

func TestDecide(t *testing.T) {
	notWorse, atLeast, atMost := Goal{NotWorse: true}, Goal{AtLeast: 1.2}, Goal{AtMost: 0.7}
	const less, more = false, true
	end := math.Inf(1)
	for _, c := range []struct {
		goal         Goal
		moreIsBetter bool
		low, high    float64
		want         string
	}{
		{notWorse, less, 0.95, 1.10, reached},   // the margin itself
		{notWorse, less, 0.20, 1.09, reached},   // however wide
		{notWorse, less, 0.50, 0.60, reached},   // better
		{notWorse, less, 0.95, 1.11, missed},    // narrow, and beyond the margin, though the median may be 1.00
		{notWorse, less, 1.00, 1.29, missed},    // not wide
		{notWorse, less, 1.00, 1.31, undecided}, // wide
		{notWorse, less, 1.11, 1.20, missed},    // wholly beyond
		{notWorse, less, 1.11, 5.00, missed},    // however wide
		{notWorse, less, 0.61, 1.54, undecided}, // noise is no success
		{notWorse, less, -end, end, undecided},  // too few runs
		{notWorse, more, 0.90, 1.05, reached},   // the other side
		{notWorse, more, 0.91, 9.00, reached},
		{notWorse, more, 0.89, 1.05, missed},
		{notWorse, more, 0.61, 1.54, undecided},
		{notWorse, more, 0.10, 0.89, missed},
		{atLeast, more, 1.20, 1.30, reached}, // a number has no margin
		{atLeast, more, 1.20, 9.00, reached},
		{atLeast, more, 1.19, 1.40, undecided}, // the median may be beyond 1.2, but that is not shown
		{atLeast, more, 1.19, 1.21, undecided}, // a value at the bound is undecided for ever
		{atLeast, more, 1.00, 1.19, missed},
		{atLeast, more, 0.10, 1.19, missed},
		{atLeast, more, -end, end, undecided},
		{atMost, less, 0.60, 0.70, reached},
		{atMost, less, 0.60, 0.71, undecided},
		{atMost, less, 0.71, 0.80, missed},
		{atMost, less, -end, end, undecided},
		{atMost, less, -end, 0.5, undecided}, // five runs bound one side
		{Goal{AtLeast: 1, AtMost: 2}, less, 1, 2, reached},
		{Goal{AtLeast: 1, AtMost: 2}, less, 1.5, 2.5, undecided},
		{Goal{AtLeast: 1, AtMost: 2}, less, 2.1, 2.5, missed},
	} {
		s := results.Summary{Median: (c.low + c.high) / 2, Low: c.low, High: c.high}
		assert.Equal(t, c.want, c.goal.decide(s, c.moreIsBetter), "%v, more is better: %v, %v-%v", c.goal, c.moreIsBetter, c.low, c.high)
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

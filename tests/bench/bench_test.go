// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

func sample(unit string, values ...float64) map[int]measure {
	m := map[int]measure{}
	for turn, v := range values {
		m[turn] = measure{v, unit}
	}
	return m
}

func TestReport(t *testing.T) {
	ratio := func(tpsl, flat map[int]measure) results { return results{"T": tpsl, "F": flat} }
	six := func(v float64) map[int]measure { return sample("us", v, v, v, v, v, v) }
	cases := map[string]struct {
		goal    goal
		found   results
		missed  int
		verdict string
	}{
		"at most, reached":    {goal{base: "F", atMost: 1.05}, ratio(six(1.0), six(1.0)), 0, "reached"},
		"at most, missed":     {goal{base: "F", atMost: 1.05}, ratio(six(1.1), six(1.0)), 1, "MISSED"},
		"at least, reached":   {goal{base: "F", atLeast: 1.25}, ratio(six(2.6), six(2.0)), 0, "reached"},
		"at least, missed":    {goal{base: "F", atLeast: 1.25}, ratio(six(2.4), six(2.0)), 1, "MISSED"},
		"interval holds 1":    {goal{base: "F", notWorse: true}, ratio(sample("", 0.9, 1.1, 1.1, 1.1, 1.1, 1.2), six(1)), 0, "reached"},
		"interval above 1":    {goal{base: "F", notWorse: true}, ratio(six(1.01), six(1)), 1, "MISSED"},
		"absolute":            {goal{atMost: 2}, results{"T": six(1.5)}, 0, "1.5 us"},
		"no goal":             {goal{base: "F"}, ratio(six(3), six(1)), 0, "3"},
		"not measured":        {goal{atMost: 2}, results{}, 1, "no value of T"},
		"no goal, no answer":  {goal{base: "F"}, results{"T": six(1)}, 0, "no value of F"},
		"too few for a bound": {goal{base: "F", atMost: 2}, ratio(sample("", 1), sample("", 1)), 0, "too few runs"},
		"only turns of both":  {goal{base: "F", atMost: 1}, ratio(sample("", 9, 1), map[int]measure{1: {1, ""}}), 0, "reached"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.goal.what, c.goal.name = "thing", "T"
			var out strings.Builder
			assert.Equal(t, c.missed, report(&out, c.found, []goal{c.goal}))
			assert.Contains(t, out.String(), c.verdict)
		})
	}
}

func TestContest(t *testing.T) {
	testsupport.NothingLeft(t)
	c := contest{time.Minute, []side{
		{argv: []string{"echo", "BenchmarkA/mode=x 5 0.41 us/msg"}},
		{argv: []string{"echo", "BenchmarkB 5 3 ns/call"}},
		{argv: []string{"echo", "hi"}, job: "J", want: "hi\n"},
	}}
	found := results{}
	var out strings.Builder
	require.NoError(t, c.run(&out, 2, found))

	assert.Equal(t, sample("us/msg", 0.41, 0.41), found["A/mode=x"])
	assert.Equal(t, sample("ns/call", 3, 3), found["B"])
	assert.Len(t, found["J"], 2)
	var order []string
	for line := range strings.Lines(out.String()) {
		order = append(order, line[:len("BenchmarkA")])
	}
	assert.Equal(t, []string{"BenchmarkA", "BenchmarkB", "BenchmarkJ", "BenchmarkA", "BenchmarkB", "BenchmarkJ"}, order)
}

func TestContestWithoutAnswer(t *testing.T) {
	testsupport.NothingLeft(t)
	cases := map[string]struct {
		side side
		want string // "": no error
	}{
		"hangs, as is known": {side{argv: []string{"sleep", "60"}, hangs: true}, ""},
		"hangs":              {side{argv: []string{"sleep", "60"}}, "sleep 60: no end in time: 50ms"},
		"fails":              {side{argv: []string{"false"}}, "false: exit code 1\n"},
		"wrong answer":       {side{argv: []string{"echo", "ho"}, job: "J", want: "hi\n"}, `echo ho: printed "ho\n", expected "hi\n"`},
		"no benchmark line":  {side{argv: []string{"echo", "BenchmarkX oops"}}, "output:1"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			found := results{}
			err := contest{50 * time.Millisecond, []side{c.side}}.run(new(strings.Builder), maxHangs+1, found)
			if c.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.want)
			}
			assert.Empty(t, found)
			assert.Equal(t, strings.Contains(c.want, "no end"), errors.Is(err, testsupport.ErrTimeout))
		})
	}
}

func TestField(t *testing.T) {
	assert.Equal(t, "4.0.2", field("x: 1\nMPICH Version:    \t4.0.2\n", "MPICH Version"))
	assert.Equal(t, "unknown", field("x: 1\n", "y"))
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/tpsl/tpsl/tests/bench/results"
)

// A verdict is what came out for a goal.
type verdict struct {
	goal           Goal
	median, bounds string // "-" without a value
	runs           int
	text           string // reached, MISSED, UNDECIDED, or that it was not measured; "" for a mere figure
	open           bool   // there is a goal, and it was not reached
}

// judge compares a goal with what was measured.
func (g Goal) judge(found *results.Set) verdict {
	s, ok := found.Of(g.Name)
	unit := " " + found.Unit(g.Name)
	if g.Base != "" {
		s, ok = found.Ratio(g.Name, g.Base)
		unit = ""
	}
	bound := g.String() != ""
	if !ok {
		return verdict{g, "-", "-", 0, "not measured: no value of " + g.missing(found), bound}
	}
	v := verdict{g, fmt.Sprintf("%.3g%s", s.Median, unit), s.Interval(), s.Runs, "", false}
	if bound {
		v.text = g.decide(s, results.MoreIsBetter(found.Unit(g.Name)))
		v.open = v.text != reached
	}
	return v
}

// table writes the goals as text and returns how many were not reached.
func table(w io.Writer, found *results.Set, goals []Goal) (open int) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\tmedian\t95 % interval\truns\tgoal\t")
	for _, g := range goals {
		v := g.judge(found)
		if v.open {
			open++
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s\n", g.What, v.median, v.bounds, v.runs, g, v.text)
	}
	t.Flush()
	return open
}

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
	text           string // reached, MISSED, or why that is not known; "" for a mere figure
	missed         bool   // a goal not known to be reached is
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
	switch {
	case !bound:
	case g.NotWorse && !s.Bounded():
		v.text, v.missed = "too few runs to tell", true
	case g.reached(s, results.MoreIsBetter(found.Unit(g.Name))):
		v.text = "reached"
	default:
		v.text, v.missed = "MISSED", true
	}
	return v
}

// table writes the goals as text and returns how many were missed.
func table(w io.Writer, found *results.Set, goals []Goal) (missed int) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\tmedian\t95 % interval\truns\tgoal\t")
	for _, g := range goals {
		v := g.judge(found)
		if v.missed {
			missed++
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s\n", g.What, v.median, v.bounds, v.runs, g, v.text)
	}
	t.Flush()
	return missed
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/tpsl/tpsl/tests/bench/results"
)

// A verdict is what came out for a goal.
type verdict struct {
	goal           goal
	median, bounds string // "-" without a value
	runs           int
	text           string // reached, MISSED, or why that is not known; "" for a mere figure
	missed         bool   // a goal not known to be reached is
}

// judge compares a goal with what was measured.
func (g goal) judge(found *results.Set) verdict {
	s, ok := found.Of(g.name)
	unit := " " + found.Unit(g.name)
	if g.base != "" {
		s, ok = found.Ratio(g.name, g.base)
		unit = ""
	}
	bound := g.String() != ""
	if !ok {
		return verdict{g, "-", "-", 0, "not measured: no value of " + g.missing(found), bound}
	}
	v := verdict{g, fmt.Sprintf("%.3g%s", s.Median, unit), s.Interval(), s.Runs, "", false}
	switch {
	case !bound:
	case g.notWorse && !s.Bounded():
		v.text, v.missed = "too few runs to tell", true
	case g.reached(s, results.MoreIsBetter(found.Unit(g.name))):
		v.text = "reached"
	default:
		v.text, v.missed = "MISSED", true
	}
	return v
}

// report writes the table of goals as text and returns how many were missed.
func report(w io.Writer, found *results.Set, goals []goal) (missed int) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\tmedian\t95 % interval\truns\tgoal\t")
	for _, g := range goals {
		v := g.judge(found)
		if v.missed {
			missed++
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\t%s\n", g.what, v.median, v.bounds, v.runs, g, v.text)
	}
	table.Flush()
	return missed
}

// missing names the benchmark for want of which there is no value.
func (g goal) missing(found *results.Set) string {
	if len(found.Values[g.name]) == 0 {
		return g.name
	}
	return g.base
}

func (g goal) reached(s results.Summary, moreIsBetter bool) bool {
	notWorse := s.Low <= 1
	if moreIsBetter {
		notWorse = s.High >= 1
	}
	return (g.atMost == 0 || s.Median <= g.atMost) &&
		(g.atLeast == 0 || s.Median >= g.atLeast) &&
		(!g.notWorse || notWorse)
}

func (g goal) String() string {
	var parts []string
	if g.notWorse {
		parts = append(parts, "not worse")
	}
	if g.atMost != 0 {
		parts = append(parts, fmt.Sprintf("at most %v", g.atMost))
	}
	if g.atLeast != 0 {
		parts = append(parts, fmt.Sprintf("at least %v", g.atLeast))
	}
	return strings.Join(parts, ", ")
}

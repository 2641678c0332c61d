// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"golang.org/x/perf/benchmath"
)

// report writes the table of goals and returns how many were missed. A goal
// without a value is missed.
func report(w io.Writer, found results, goals []goal) (missed int) {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\tmedian\t95 % interval\truns\tgoal\t")
	for _, g := range goals {
		values, unit := g.values(found)
		if len(values) == 0 {
			fmt.Fprintf(table, "%s\t-\t-\t0\t%s\tno value of %s\n", g.what, g, g.missing(found))
			if g.String() != "" {
				missed++
			}
			continue
		}
		s := benchmath.AssumeNothing.Summary(benchmath.NewSample(values, &benchmath.DefaultThresholds), 0.95)
		verdict := ""
		switch {
		case g.String() == "":
		case g.reached(s):
			verdict = "reached"
		default:
			verdict = "MISSED"
			missed++
		}
		fmt.Fprintf(table, "%s\t%.3g%s\t%s\t%d\t%s\t%s\n", g.what, s.Center, unit, interval(s), len(values), g, verdict)
	}
	table.Flush()
	// As comments, so that benchstat takes the whole output.
	for line := range strings.Lines(text.String()) {
		fmt.Fprint(w, "# ", strings.TrimRight(line, " \n"), "\n")
	}
	return missed
}

// values returns what the goal is about, a value per turn that has one.
func (g goal) values(found results) (values []float64, unit string) {
	for _, turn := range slices.Sorted(maps.Keys(found[g.name])) {
		m := found[g.name][turn]
		if g.base == "" {
			values, unit = append(values, m.value), " "+m.unit
		} else if base, ok := found[g.base][turn]; ok {
			values = append(values, m.value/base.value)
		}
	}
	return values, unit
}

// missing names the benchmark for want of which there is no value.
func (g goal) missing(found results) string {
	if len(found[g.name]) == 0 {
		return g.name
	}
	return g.base
}

func (g goal) reached(s benchmath.Summary) bool {
	return (g.atMost == 0 || s.Center <= g.atMost) &&
		(g.atLeast == 0 || s.Center >= g.atLeast) &&
		(!g.notWorse || s.Lo <= 1)
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

// interval: fewer than six runs bound nothing.
func interval(s benchmath.Summary) string {
	if math.IsInf(s.Lo, 0) || math.IsInf(s.Hi, 0) {
		return "too few runs"
	}
	return fmt.Sprintf("%.3g-%.3g", s.Lo, s.Hi)
}

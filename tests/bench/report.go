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

// A goal is a bound for the median of a benchmark or, with a base, of its ratio
// to the base in the same turn.
type goal struct {
	what, name, base string
	atMost, atLeast  float64 // 0: no such bound
	// notWorse: the ratio's interval must include 1 or lie below it.
	notWorse bool
}

var goals = []goal{
	{what: "8 B latency, tpsl/flat", name: "Latency/mode=tpsl/size=8", base: "Latency/mode=flat/size=8", atMost: 1.05, notWorse: true},
	{what: "8 B latency, private/flat", name: "Latency/mode=private/size=8", base: "Latency/mode=flat/size=8", notWorse: true},
	{what: "8 B latency, tpsl/threaded", name: "Latency/mode=tpsl/size=8", base: "Latency/mode=threaded/size=8"},
	{what: "4 MiB bandwidth, tpsl/flat", name: "Bandwidth/mode=tpsl/size=4194304", base: "Bandwidth/mode=flat/size=4194304", atLeast: 1.25},
	{what: "4 MiB bandwidth, private/flat", name: "Bandwidth/mode=private/size=4194304", base: "Bandwidth/mode=flat/size=4194304", atLeast: 1.25},
	{what: "4 MiB bandwidth, tpsl/threaded", name: "Bandwidth/mode=tpsl/size=4194304", base: "Bandwidth/mode=threaded/size=4194304"},
	{what: "launch of 16, mpiexec/mpiexec.hydra", name: "Launch/by=mpiexec/ranks=16", base: "Launch/by=mpiexec.hydra/ranks=16", notWorse: true},
	{what: "start-up of 16 ranks, mpiexec/mpiexec.hydra", name: "Startup/by=mpiexec/mode=flat/ranks=16", base: "Startup/by=mpiexec.hydra/mode=flat/ranks=16", notWorse: true},
	{what: "start-up of 16 ranks, tpsl/mpiexec.hydra", name: "Startup/by=mpiexec/mode=tpsl/ranks=16", base: "Startup/by=mpiexec.hydra/mode=flat/ranks=16"},
	{what: "start-up of 16 ranks, private/mpiexec.hydra", name: "Startup/by=mpiexec/mode=private/ranks=16", base: "Startup/by=mpiexec.hydra/mode=flat/ranks=16"},
	{what: "PMI barrier of 64, mpiexec/mpiexec.hydra", name: "PMIBarrier/by=mpiexec/ranks=64", base: "PMIBarrier/by=mpiexec.hydra/ranks=64", atMost: 0.8},
	{what: "64x64 PMI gets, mpiexec/mpiexec.hydra", name: "PMIGets/by=mpiexec/ranks=64", base: "PMIGets/by=mpiexec.hydra/ranks=64", atMost: 0.8},
	{what: "stub over a direct call", name: "Stub", atMost: 2},
	{what: "instance after the first", name: "Instance", atMost: 2},
}

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

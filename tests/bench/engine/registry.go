// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/results"
	"github.com/tpsl/tpsl/tests/bench/turns"
)

// A bench is a sub-benchmark.
type bench struct {
	name  string // it comes first in its sides' names
	about string // one line
	limit time.Duration
	// sides names what measure measures, each in a process of its own.
	sides   func(p plan) []string
	measure func(m *meter) error
	// contests are of commands that are measured in the same turns; commands build them.
	contests func(p plan) []turns.Contest
	commands [][]string
	goals    []report.Goal
	// cores: fewer than so many do not show what it is about.
	cores int
}

// A plan is how much is measured, and where.
type plan struct {
	cores   []int         // a CPU of each
	threads []int         // how many share a port, a port each, and so on
	quick   bool          // fewer sizes, shorter; all that goals are about
	figure  time.Duration // for which one figure is measured
}

// The time of a figure, and under -quick.
const (
	usualFigure = 40 * time.Millisecond
	quickFigure = 20 * time.Millisecond
)

var benches = map[string]bench{}

// register adds a sub-benchmark, from an init function.
func register(b bench) {
	if _, twice := benches[b.name]; twice {
		panic("two benchmarks are called " + b.name)
	}
	benches[b.name] = b
}

// inOrder returns the sub-benchmarks in the order of their names.
func inOrder() (all []bench) {
	for _, b := range benches {
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b bench) int { return cmp.Compare(a.name, b.name) })
	return all
}

// contestsOf makes contests of a sub-benchmark; command is this one.
func (b bench) contestsOf(p plan, command []string) (all []turns.Contest) {
	if b.contests != nil {
		all = b.contests(p)
	}
	if b.sides == nil {
		return all
	}
	c := turns.Contest{Limit: b.limit}
	for _, name := range b.sides(p) {
		c.Sides = append(c.Sides, turns.Side{Name: name, Argv: append(slices.Clone(command), "-measure", name)})
	}
	return append(all, c)
}

// hidden tells what this machine does not show, "" if it has cores enough.
func (b bench) hidden(p plan) string {
	if len(p.cores) >= b.cores {
		return ""
	}
	return fmt.Sprintf("%d cores do not show %s (%s); on %d or more: scripts/bench-engine -only '^%s'",
		len(p.cores), b.name, b.about, b.cores, b.name)
}

// goals are those of the sub-benchmarks that were measured, maybe on another machine.
func goals(found *results.Set) (all []report.Goal) {
	for _, b := range inOrder() {
		all = append(all, b.goals...)
	}
	return report.Due(found, append(all, goalsOfBuilds(found)...))
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/tests/bench/machine"
	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/results"
)

const measuredKey = "measured"

// measured returns the line of the header that tells what was measured, from
// which goalsOf knows the goals.
func (o options) measured() string {
	what := "everything"
	switch {
	case o.copies:
		what = "copies"
	case o.quick:
		what = "quick"
	}
	line := fmt.Sprintf("# %s: %s, %d cores", measuredKey, what, len(machine.Cores()))
	if o.only != nil {
		line += ", only " + o.only.String()
	}
	return line
}

// goalsOf returns the goals of what was measured, maybe on another machine. Of a
// part that -only chose, they are those with a value.
func goalsOf(found *results.Set) []report.Goal {
	var what string
	var cores int
	line := found.Setting(measuredKey)
	rest, _, partly := strings.Cut(line, ", only ")
	if _, err := fmt.Sscanf(strings.ReplaceAll(rest, ",", ""), "%s %d cores", &what, &cores); err != nil {
		partly = true // an older file
	}
	goals := plan{cores: make([]int, cores), quick: what == "quick"}.goals()
	if slices.ContainsFunc(found.Names(), func(name string) bool { return strings.Contains(name, "/between=hosts/") }) {
		goals = append(goals, goalsOfHosts()...)
	}
	if what == "copies" {
		goals = copies().goals
	}
	if partly {
		goals = slices.DeleteFunc(goals, func(g report.Goal) bool { return !g.Measured(found) })
	}
	return goals
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"

	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/results"
)

const (
	measuredCopies      = "copies"
	measuredOpenMPI     = "openmpi"
	measuredMany        = "many"
	measuredCollectives = "collectives"
	measuredProgress    = "progress"
	measuredKernels     = "kernels"
	measuredCalls       = "calls"
	measuredEmbedded    = "embedded"
	measuredPython      = "python"
	measuredRTM         = "rtm"
	measuredMultiple    = "multiple"
)

// goalsOf returns the goals of what was measured, maybe on another machine.
func goalsOf(found *results.Set) []report.Goal {
	what, cores := report.WasMeasured(found)
	switch what {
	case measuredCopies:
		return report.Due(found, copies().goals)
	case measuredMany:
		return report.Due(found, many(false).goals)
	case measuredCollectives:
		return report.Due(found, collectives(plan{cores: make([]int, cores)}).goals)
	case measuredProgress:
		return report.Due(found, progress(plan{cores: make([]int, cores)}).goals)
	case measuredKernels:
		return report.Due(found, kernels(plan{cores: make([]int, cores)}).goals)
	case measuredCalls:
		return report.Due(found, calls(plan{cores: make([]int, cores), cut: 1}).goals)
	case measuredEmbedded:
		return report.Due(found, embedded(plan{cores: make([]int, cores)}).goals)
	case measuredPython:
		return report.Due(found, python(plan{cores: make([]int, cores)}).goals)
	case measuredRTM:
		return report.Due(found, rtm(plan{cores: make([]int, cores)}).goals)
	case measuredMultiple:
		return report.Due(found, multiple(plan{cores: make([]int, cores)}).goals)
	case measuredOpenMPI:
		return report.Due(found, openMPI(plan{cores: make([]int, cores)}).goals)
	}
	goals := plan{cores: make([]int, cores), quick: what == report.Quick}.goals()
	if slices.ContainsFunc(found.Names(), func(name string) bool { return strings.Contains(name, "/between=hosts/") }) {
		goals = append(goals, goalsOfHosts()...)
	}
	return report.Due(found, goals)
}

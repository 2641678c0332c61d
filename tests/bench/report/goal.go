// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"

	"github.com/tpsl/tpsl/tests/bench/results"
)

// A Goal is a bound for the median of a benchmark or, with a base, of its ratio
// to the base in the same turn.
type Goal struct {
	What, Name, Base string
	AtMost, AtLeast  float64 // 0: no such bound
	// NotWorse: the ratio's interval must include 1 or lie on its better side.
	NotWorse bool
}

// Measured tells whether there is anything to judge by.
func (g Goal) Measured(found *results.Set) bool { return g.judge(found).runs > 0 }

// missing names the benchmark for want of which there is no value.
func (g Goal) missing(found *results.Set) string {
	if len(found.Values[g.Name]) == 0 {
		return g.Name
	}
	return g.Base
}

func (g Goal) reached(s results.Summary, moreIsBetter bool) bool {
	notWorse := s.Low <= 1
	if moreIsBetter {
		notWorse = s.High >= 1
	}
	return (g.AtMost == 0 || s.Median <= g.AtMost) &&
		(g.AtLeast == 0 || s.Median >= g.AtLeast) &&
		(!g.NotWorse || notWorse)
}

func (g Goal) String() string {
	var parts []string
	if g.NotWorse {
		parts = append(parts, "not worse")
	}
	if g.AtMost != 0 {
		parts = append(parts, fmt.Sprintf("at most %v", g.AtMost))
	}
	if g.AtLeast != 0 {
		parts = append(parts, fmt.Sprintf("at least %v", g.AtLeast))
	}
	return strings.Join(parts, ", ")
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/tpsl/tpsl/tests/bench/results"
)

// A Goal is a bound for a benchmark or, with a base, for its ratio to the base in the same turn.
type Goal struct {
	What, Name, Base string
	AtMost, AtLeast  float64 // 0: no such bound
	NotWorse         bool    // than the base, by more than margin
}

const (
	margin = 0.1 // what "not worse" gives away
	wide   = 0.3 // an interval that is wider than this decides less
)

// What is said of a goal.
const (
	reached   = "reached"
	missed    = "MISSED"
	undecided = "UNDECIDED"
)

// decide judges by the interval; the median decides nothing. The rules, in this order:
//
//  1. An interval that lies within the bound is reached, however wide it is.
//  2. One that lies wholly beyond the bound is missed, however wide it is.
//  3. One that holds the bound is undecided. But "not worse" has a margin for noise already:
//     an interval of at most the width wide that goes beyond the margin all the same is missed.
//
// Too few runs have no interval of two ends, and decide nothing.
func (g Goal) decide(s results.Summary, moreIsBetter bool) string {
	least, most := g.bounds(moreIsBetter)
	switch {
	case !s.Bounded():
		return undecided
	case s.Low >= least && s.High <= most:
		return reached
	case s.High < least || s.Low > most:
		return missed
	case g.NotWorse && s.High-s.Low <= wide:
		return missed
	}
	return undecided
}

// bounds returns between what the interval has to lie.
func (g Goal) bounds(moreIsBetter bool) (least, most float64) {
	least, most = math.Inf(-1), math.Inf(1)
	if g.AtLeast != 0 {
		least = g.AtLeast
	}
	if g.AtMost != 0 {
		most = g.AtMost
	}
	switch {
	case g.NotWorse && moreIsBetter:
		least = 1 - margin
	case g.NotWorse:
		most = 1 + margin
	}
	return least, most
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

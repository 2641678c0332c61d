// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/internal/ranges"
)

// Ranks is a set of ranks that an option names, as ranges. It may name more ranks than the job has, as "all" does.
type Ranks []RankRange

// A RankRange is the ranks from First to Last.
type RankRange struct{ First, Last int }

// everyRank is the one range of [AllRanks].
var everyRank = RankRange{0, math.MaxInt32}

// AllRanks names every rank, however many the job has.
func AllRanks() Ranks { return Ranks{everyRank} }

// ParseRanks reads "all", "none" or a list in the form of output labels: 0-2,5.
func ParseRanks(s string) (Ranks, error) {
	switch strings.ToLower(s) {
	case "all":
		return AllRanks(), nil
	case "none":
		return Ranks{}, nil
	}
	ranks := Ranks{}
	for part := range strings.SplitSeq(s, ",") {
		first, last, ok := ranges.Parse(part)
		if !ok {
			return nil, fmt.Errorf("%q is not all, none or a list of ranks such as 0-2,5", s)
		}
		ranks = append(ranks, RankRange{first, last})
	}
	return ranks, nil
}

// Hold reports whether the rank is named.
func (r Ranks) Hold(rank int) bool {
	return slices.ContainsFunc(r, func(part RankRange) bool { return part.First <= rank && rank <= part.Last })
}

// HoldAny reports whether one of the ranks is named.
func (r Ranks) HoldAny(ranks []int) bool { return slices.ContainsFunc(ranks, r.Hold) }

// checkRanks refuses a request that names a rank which the job does not have.
func checkRanks(r Request, size int) error {
	for _, tool := range r.Tools {
		if err := tool.Ranks.check(tool.Option, size); err != nil {
			return err
		}
	}
	return cmp.Or(r.Stdio.From.check("output-from", size), r.Stdio.Stdin.check("stdin", size))
}

func (r Ranks) check(option string, size int) error {
	for _, part := range r {
		if part.Last >= size && part != everyRank {
			return fmt.Errorf("option -%s: there is no rank %d among %d", option, part.Last, size)
		}
	}
	return nil
}

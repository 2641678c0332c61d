// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/internal/ranges"
)

// Ranks is the ranks that an option names, as ranges. It may name more than the job has, as "all" does.
type Ranks []RankRange

// A RankRange is the ranks from First to Last.
type RankRange struct{ First, Last int }

var allRanks = Ranks{{0, math.MaxInt32}}

// ParseRanks reads "all", "none" or a list as output labels show it: 0-2,5.
func ParseRanks(s string) (Ranks, error) {
	switch strings.ToLower(s) {
	case "all":
		return allRanks, nil
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

// checkRanks refuses options that name a rank which the job has not.
func checkRanks(opts Options, size int) error {
	for _, tool := range opts.Tools {
		if err := tool.Ranks.check(tool.Option, size); err != nil {
			return err
		}
	}
	return cmp.Or(opts.Stdio.From.check("output-from", size), opts.Stdio.Stdin.check("stdin", size))
}

func (r Ranks) check(option string, size int) error {
	for _, part := range r {
		if part.Last >= size && part != allRanks[0] {
			return fmt.Errorf("option -%s: there is no rank %d among %d", option, part.Last, size)
		}
	}
	return nil
}

// HoldAny reports whether one of the ranks is named.
func (r Ranks) HoldAny(ranks []int) bool { return slices.ContainsFunc(ranks, r.Hold) }

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"slices"
	"strconv"

	"github.com/tpsl/tpsl/pmi"
)

// newWorld returns what the sessions of all ranks have in common.
func newWorld(opts Options, s Setting, placed placement) pmi.World {
	return pmi.World{
		Size:       len(placed.ranks),
		KVSName:    s.KVSName,
		Mapping:    pmi.Mapping(placed.ranks),
		Universe:   opts.PMI.universe(max(placed.slots, len(placed.ranks))),
		AllocKinds: opts.PMI.AllocKinds,
	}
}

// universe returns how many ranks there could be; 0 is no known limit.
func (o PMIOptions) universe(slots int) int {
	if o.Universe == "SYSTEM" {
		return slots
	}
	n, _ := strconv.Atoi(o.Universe) // INFINITE and none are 0
	return n
}

// LocalRanks lists the ranks of the host.
func (h HostPlan) LocalRanks() pmi.Ranks {
	var ranks pmi.Ranks
	for _, set := range h.Sets {
		ranks = append(ranks, set.Ranks...)
	}
	slices.Sort(ranks)
	return ranks
}

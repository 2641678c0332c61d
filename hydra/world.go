// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"slices"

	"github.com/tpsl/tpsl/pmi"
)

// LocalRanks lists the ranks of the host.
func (h HostPlan) LocalRanks() pmi.Ranks {
	var ranks pmi.Ranks
	for _, set := range h.Sets {
		ranks = append(ranks, set.Ranks...)
	}
	slices.Sort(ranks)
	return ranks
}

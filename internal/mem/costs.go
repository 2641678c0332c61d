// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package mem

import "github.com/tpsl/tpsl/pagetables"

// Costs are what a rank costs: anonymous memory, of it what is swapped, and page tables, of
// all processes by the number of ranks. Shared memory is in neither.
type Costs struct {
	Ranks int     `json:"ranks"`
	Bytes uint64  `json:"bytes"`
	Flat  uint64  `json:"flat_bytes,omitempty"`
	Ratio float64 `json:"ratio,omitempty"`
}

func perRank(r *Report) *Costs {
	ranks, bytes := cost(r.Processes)
	if ranks == 0 {
		return nil
	}
	c := &Costs{Ranks: ranks, Bytes: bytes / uint64(ranks)}
	if ranks, bytes := cost(r.Flat); ranks > 0 && bytes > 0 {
		c.Flat = bytes / uint64(ranks)
		c.Ratio = float64(c.Bytes) / float64(c.Flat)
	}
	return c
}

func cost(all []*pagetables.Process) (ranks int, bytes uint64) {
	for _, p := range all {
		ranks += len(p.Ranks)
		bytes += p.Total.Anonymous + p.Total.Swapped + p.Tables
	}
	return ranks, bytes
}

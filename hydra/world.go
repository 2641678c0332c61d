// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"slices"
	"strconv"

	"github.com/tpsl/tpsl/pmi"
)

// A world is the ranks that started together: those of the command line, or those of one spawn. Each has its own key-value
// space, barriers and proxies; the name service is the job's.
type world struct {
	index   int
	plan    Plan
	gather  *pmi.Gather
	links   []*proxyLink
	pmiUsed bool       // some rank has started a PMI session
	idle    []exitInfo // exits without PMI while none was known to be in use
	dead    []int      // ranks that ended while the job goes on
	birth   *birth     // of a spawned world, until all its ranks run
	ends    ends
	refused bool // it could not be spawned: nothing of it counts
}

// addWorld makes a world of a plan and starts its proxies.
func (j *Job) addWorld(plan Plan) *world {
	w := &world{index: len(j.worlds), plan: plan, ends: ends{}, gather: pmi.NewGather(plan.Size, pmi.AllRanks(plan.Size), nil)}
	j.worlds = append(j.worlds, w)
	j.startProxies(w)
	return w
}

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

// together lists the ranks of the process that a rank is in.
func (h HostPlan) together(rank int) []int {
	for _, set := range h.Sets {
		if set.Holds(rank) {
			return set.Ranks
		}
	}
	return nil
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

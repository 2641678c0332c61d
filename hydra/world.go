// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/pmi"
)

// A world is the ranks that started together: those of the command line, or those of one spawn. Each has its own key-value
// space, barriers and proxies; the name service is the job's.
type world struct {
	index   int
	plan    plan.Plan
	gather  *pmi.Gather
	links   []*proxyLink
	pmiUsed bool       // a rank has started a PMI session
	idle    []exitInfo // good ends of processes that did not use PMI
	dead    []int      // ranks that have died while the job goes on
	birth   *birth     // nil for the world of the command line, and when all ranks run
	ends    ends
	refused bool // it could not be spawned, so the ends of its ranks do not count
}

// addWorld makes a world of a plan and starts its proxies.
func (j *Job) addWorld(made plan.Plan) *world {
	w := &world{index: len(j.worlds), plan: made, ends: ends{}, gather: pmi.NewGather(made.Size, pmi.AllRanks(made.Size), nil)}
	j.worlds = append(j.worlds, w)
	j.startProxies(w)
	return w
}

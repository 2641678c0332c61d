// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"os"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/ib"
	"github.com/tpsl/tpsl/internal/topology"
)

// Rails returns the CPUs and the NICs that mpiexec -nics near would give to the ranks of a host, perProcess of them in one
// process. There are no NICs where there is no choice.
func Rails(m *topology.Machine, nics []ib.NIC, ranks, perProcess int, bind plan.Binding) ([]topology.Set, []string, error) {
	host := plan.Host{Ranks: ranks, Programs: []plan.Program{{Env: os.Environ()}}, Hardware: plan.HardwareOptions{Bind: bind}}
	for first := 0; first < ranks; first += perProcess {
		host.Sets = append(host.Sets, plan.RankSet{Ranks: make([]int, min(perProcess, ranks-first)), Local: first})
	}
	placement, err := host.Place(m)
	if err != nil {
		return nil, nil, err
	}
	cpus := placement.Near(ranks, m)
	return cpus, ib.Rails(nics, cpus), nil
}

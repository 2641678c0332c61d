// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"os"

	"github.com/tpsl/tpsl/hydra"
	"github.com/tpsl/tpsl/ib"
	"github.com/tpsl/tpsl/internal/topology"
)

// Rails returns the CPUs and the NICs that mpiexec -nics near would give to the ranks of a host, perProcess of them in one
// process. There are no NICs where there is no choice.
func Rails(m *topology.Machine, nics []ib.NIC, ranks, perProcess int, bind hydra.Binding) ([]topology.Set, []string, error) {
	p := &proxy{plan: hydra.HostPlan{Ranks: ranks, Programs: []hydra.Program{{Env: os.Environ()}}, Placement: hydra.PlacementOptions{Bind: bind}}}
	for first := 0; first < ranks; first += perProcess {
		p.plan.Sets = append(p.plan.Sets, hydra.RankSet{Ranks: make([]int, min(perProcess, ranks-first)), Local: first})
	}
	pl := placement{machine: m}
	if err := p.giveCPUs(&pl); err != nil {
		return nil, nil, err
	}
	cpus := p.rankCPUs(pl)
	return cpus, ib.Rails(nics, cpus), nil
}

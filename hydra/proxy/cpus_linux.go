// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra"
	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/internal/topology"
)

// maxCPUs is how many CPUs Linux can be built for (CONFIG_NR_CPUS).
const maxCPUs = 8192

// AllowedCPUs lists the CPUs this process may run on: its affinity mask, which lies within its cgroup's.
func AllowedCPUs() (topology.Set, error) {
	mask := unix.NewCPUSet(maxCPUs)
	if err := unix.SchedGetaffinityDynamic(0, mask); err != nil {
		return nil, fmt.Errorf("read CPU mask: %w", err)
	}
	var cpus topology.Set
	for id := range maxCPUs {
		if mask.IsSet(id) {
			cpus = append(cpus, id)
		}
	}
	return cpus, nil
}

// A placement is what the host's hardware decides about its ranks.
type placement struct {
	machine *topology.Machine // nil where nothing depends on it
	cpus    []topology.Set    // of each local rank; nil when ranks are not bound
	spread  []int             // one CPU for each local rank that is not bound, or nil when there are too few
	rails   []string          // the NIC of each local rank, or nil
	gpus    []gpuSet          // of each local rank, or nil
}

// placeRanks looks at the hardware, gives each local rank its part of it, and tells mpiexec what that decides.
func (p *proxy) placeRanks() (placement, error) {
	allowed, err := AllowedCPUs()
	if err != nil {
		return placement{}, err
	}
	if !p.needsHardware() {
		return placement{}, nil
	}
	pl := placement{machine: topology.Read(os.DirFS("/sys"), allowed)}
	if err := p.giveCPUs(&pl); err != nil {
		return pl, fmt.Errorf("bind ranks on %s: %w", p.plan.Host, err)
	}
	var placed hydra.Placed
	if p.cutsByObject() {
		if err := p.cutSets(pl); err != nil {
			return pl, err
		}
		placed.Sets = p.plan.Sets
	}
	if err := p.giveDevices(&pl); err != nil {
		return pl, fmt.Errorf("give ranks on %s their devices: %w", p.plan.Host, err)
	}
	if p.plan.Placement.Report {
		placed.Report = p.report(pl)
	}
	if placed.Sets != nil || placed.Report != nil {
		p.conn.SendValue(channel.Placed, placed)
	}
	return pl, nil
}

// giveCPUs binds the local ranks as the user wants them.
func (p *proxy) giveCPUs(pl *placement) (err error) {
	bind := p.plan.Placement.Bind
	if bind.Active() {
		pl.cpus, err = bind.Deal(p.plan.Ranks, p.plan.Placement.MapBy, pl.machine)
	} else if bind.Object == "" && len(pl.machine.CPUs) >= p.plan.Ranks {
		pl.spread = spread(pl.machine)
	}
	return err
}

// needsHardware reports whether anything depends on it: on big machines it takes long to read.
func (p *proxy) needsHardware() bool {
	shares := func(set hydra.RankSet) bool { return len(set.Ranks) > 1 }
	want := p.plan.Placement
	return want.Bind.Active() || want.Report || want.NICs != "" || want.GPUs != "" || want.MemBind.Active() || p.cutsByObject() || slices.ContainsFunc(p.plan.Sets, shares)
}

func (p *proxy) cutsByObject() bool {
	return slices.ContainsFunc(p.plan.Programs, func(program hydra.Program) bool { return program.PerObject != "" })
}

// cutSets makes the rank sets that -rpp wants for each object of some kind.
func (p *proxy) cutSets(pl placement) error {
	for _, program := range p.plan.Programs {
		if pl.cpus == nil && program.PerObject != "" && program.PerObject != "node" {
			return fmt.Errorf("-rpp %s cuts by the ranks' binding, but -bind-to none leaves those on %s unbound; use -bind-to core, or -rpp K",
				program.PerObject, p.plan.Host)
		}
	}
	p.plan.Sets = hydra.CutSets(p.plan.Sets, p.plan.Programs, pl.cpus, pl.machine)
	for _, set := range p.plan.Sets {
		program := &p.plan.Programs[set.Program]
		program.PerProcess = max(program.PerProcess, len(set.Ranks))
	}
	return nil
}

// spread orders CPUs so that every core comes once before any comes twice.
func spread(m *topology.Machine) []int {
	var order []int
	for depth := 0; len(order) < len(m.CPUs); depth++ {
		var cpus topology.Set
		for _, core := range m.Objects(topology.Core) {
			if depth < len(core.CPUs) {
				cpus = append(cpus, core.CPUs[depth])
			}
		}
		slices.Sort(cpus)
		order = append(order, cpus...)
	}
	return order
}

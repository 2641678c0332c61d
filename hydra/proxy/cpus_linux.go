// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/plan"
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
	plan.Placement
	machine *topology.Machine // nil where nothing depends on it
	rails   []string          // the NIC of each local rank, or nil
	gpus    []gpuSet          // of each local rank, or nil
}

// placeRanks looks at the hardware, gives each local rank its part of it, and tells mpiexec what that decides.
func (p *proxy) placeRanks() (placement, error) {
	allowed, err := AllowedCPUs()
	if err != nil {
		return placement{}, err
	}
	pl := placement{Placement: p.host.AsPlanned()}
	if !p.host.NeedsHardware() {
		return pl, nil
	}
	if err := p.host.CheckCuts(); err != nil {
		return pl, err
	}
	pl.machine = topology.Read(os.DirFS("/sys"), allowed)
	if pl.Placement, err = p.host.Place(pl.machine); err != nil {
		return pl, fmt.Errorf("bind ranks on %s: %w", p.host.Name, err)
	}
	if err := p.giveDevices(&pl); err != nil {
		return pl, fmt.Errorf("give ranks on %s their devices: %w", p.host.Name, err)
	}
	if p.host.Hardware.Report {
		pl.Report = p.report(pl)
	}
	if p.host.CutsByObject() || pl.Report != nil {
		p.conn.SendValue(channel.Placed, pl.Placement)
	}
	return pl, nil
}

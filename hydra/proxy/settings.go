// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/tpsl/tpsl/hydra"
	"github.com/tpsl/tpsl/ib"
	"github.com/tpsl/tpsl/internal/topology"
)

// giveDevices gives each local rank NICs and GPUs, where the user wants that.
func (p *proxy) giveDevices(pl *placement) error {
	near := p.rankCPUs(*pl)
	if p.plan.Placement.NICs == "near" {
		nics, err := ib.List(os.DirFS("/sys"), pl.machine)
		if err != nil {
			return err
		}
		pl.rails = ib.Rails(nics, near)
	}
	n, err := strconv.Atoi(p.plan.Placement.GPUs)
	if err != nil {
		return nil // auto, or nothing: each rank sees them all
	}
	pl.gpus, err = dealGPUs(n, near, p.plan.Programs[0].Env, pl.machine)
	return err
}

// rankCPUs returns where each local rank runs.
func (p *proxy) rankCPUs(pl placement) []topology.Set {
	cpus := slices.Repeat([]topology.Set{pl.machine.CPUs}, p.plan.Ranks)
	for _, set := range p.plan.Sets {
		copy(cpus[set.Local:], p.slotCPUs(set, pl))
	}
	return cpus
}

// rankSettings returns the variables that tell each of a set's ranks its devices. What the user has set stays.
func (p *proxy) rankSettings(set hydra.RankSet, pl placement) [][]string {
	env := p.plan.Programs[set.Program].Env
	settings := make([][]string, len(set.Ranks))
	for i := range set.Ranks {
		if _, theirs := hydra.Getenv(env, "UCX_NET_DEVICES"); pl.rails != nil && !theirs {
			settings[i] = append(settings[i], "UCX_NET_DEVICES="+pl.rails[set.Local+i])
		}
		if pl.gpus != nil {
			settings[i] = append(settings[i], pl.gpus[set.Local+i].settings()...)
		}
	}
	return settings
}

// deviceSettings returns the same as the process of the set gets it. Libraries that its ranks share see the GPUs of all.
func (p *proxy) deviceSettings(set hydra.RankSet, pl placement) []string {
	ranks := p.rankSettings(set, pl)
	if len(ranks) == 1 {
		return ranks[0]
	}
	var process, slots []string
	if pl.gpus != nil {
		process = join(pl.gpus[set.Local : set.Local+len(ranks)]).settings()
	}
	for _, own := range ranks {
		slots = append(slots, strings.Join(own, " "))
	}
	if list := strings.Join(slots, ";"); strings.Trim(list, ";") != "" {
		process = append(process, "TPSL_ENV="+list)
	}
	return process
}

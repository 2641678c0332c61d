// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"os"
	"strconv"
	"strings"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/ib"
)

// giveDevices gives each local rank NICs and GPUs, where the user wants that.
func (p *proxy) giveDevices(pl *placement) error {
	near := pl.Near(p.host.Ranks, pl.machine)
	if p.host.Hardware.NICs == "near" {
		nics, err := ib.List(os.DirFS("/sys"), pl.machine)
		if err != nil {
			return err
		}
		pl.rails = ib.Rails(nics, near)
	}
	n, err := strconv.Atoi(p.host.Hardware.GPUs)
	if err != nil {
		return nil // auto, or nothing: each rank sees them all
	}
	pl.gpus, err = dealGPUs(n, near, p.host.Programs[0].Env, pl.machine)
	return err
}

// rankSettings returns the variables that tell each of a set's ranks its devices. What the user has set stays.
func (p *proxy) rankSettings(set plan.RankSet, pl placement) [][]string {
	env := p.host.Programs[set.Program].Env
	settings := make([][]string, len(set.Ranks))
	for i := range set.Ranks {
		if _, theirs := plan.Getenv(env, "UCX_NET_DEVICES"); pl.rails != nil && !theirs {
			settings[i] = append(settings[i], "UCX_NET_DEVICES="+pl.rails[set.Local+i])
		}
		if pl.gpus != nil {
			settings[i] = append(settings[i], pl.gpus[set.Local+i].settings()...)
		}
	}
	return settings
}

// deviceSettings returns the same as the process of the set gets it. Libraries that its ranks share see the GPUs of all.
func (p *proxy) deviceSettings(set plan.RankSet, pl placement) []string {
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

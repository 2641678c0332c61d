// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"strconv"
	"strings"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/hydra/proxy/descriptors"
	"github.com/tpsl/tpsl/internal/ranges"
	"github.com/tpsl/tpsl/internal/topology"
)

// identity returns the settings that tell a set's process who it is (docs/environment.md).
func (p *proxy) identity(layout descriptors.Layout, set plan.RankSet, w way, pl placement) []string {
	program := p.programs[set.Program]
	var local []int
	for i := range set.Ranks {
		local = append(local, set.Local+i)
	}
	own := []string{
		"GFORTRAN_UNBUFFERED_PRECONNECTED=y",
		"MPI_LOCALNRANKS=" + strconv.Itoa(p.host.Ranks),
		"MPI_LOCALRANKID=" + ranges.List(local),
	}
	if p.hostName != "" {
		own = append(own, "MPIR_CVAR_CH3_INTERFACE_HOSTNAME="+p.hostName, "PMI_HOSTNAME="+p.hostName)
	}
	own = append(own, layout.Settings()...)
	own = append(own, p.session(set)...)
	if p.host.Group > 0 {
		own = append(own, "PMI_SPAWNED=1")
	}
	if pl.Bound {
		own = append(own, "HYDRA_USER_PROVIDED_BINDING=1")
	}
	if _, found := plan.Getenv(program.Env, "OMP_NUM_THREADS"); !found && program.PerProcess > 1 && !w.isPrivate() {
		own = append(own, "OMP_NUM_THREADS="+strconv.Itoa(len(set.Ranks)))
	}
	if len(w.tools)+len(w.heaps) > 0 {
		own = append(own, "TPSL_TOOLS="+strings.Join(w.tools, ":"), "LD_PRELOAD="+strings.Join(w.heaps, ":"))
	}
	if cpus := pl.CPUsOf(set); cpus != nil && len(set.Ranks) > 1 {
		own = append(own, "TPSL_CPUS="+slotList(cpus))
	}
	return append(own, p.deviceSettings(set, pl)...)
}

// session returns the settings that tell a set who its ranks are to the PMI server.
func (p *proxy) session(set plan.RankSet) []string {
	if p.port != nil {
		return []string{"PMI_PORT=" + p.port.listener.Addr().String(), "PMI_ID=" + ranges.List(set.Ranks)}
	}
	return []string{"PMI_RANK=" + ranges.List(set.Ranks), "PMI_SIZE=" + strconv.Itoa(p.host.World.Size)}
}

func slotList(cpus []topology.Set) string {
	var lists []string
	for _, slot := range cpus {
		lists = append(lists, slot.String())
	}
	return strings.Join(lists, ";")
}

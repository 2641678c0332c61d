// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tpsl/tpsl/hydra"
	"github.com/tpsl/tpsl/internal/topology"
)

// identity returns the settings that tell a set's process who it is (docs/environment.md).
func (p *proxy) identity(set hydra.RankSet, w way, pl placement) []string {
	program := p.plan.Programs[set.Program]
	var local []int
	for i := range set.Ranks {
		local = append(local, set.Local+i)
	}
	own := []string{
		"GFORTRAN_UNBUFFERED_PRECONNECTED=y",
		"MPI_LOCALNRANKS=" + strconv.Itoa(p.plan.Ranks),
		"MPI_LOCALRANKID=" + commaList(local),
	}
	if p.hostName != "" {
		own = append(own, "MPIR_CVAR_CH3_INTERFACE_HOSTNAME="+p.hostName, "PMI_HOSTNAME="+p.hostName)
	}
	own = append(own, p.session(set)...)
	if p.plan.Group > 0 {
		own = append(own, "PMI_SPAWNED=1")
	}
	if pl.cpus != nil {
		own = append(own, "HYDRA_USER_PROVIDED_BINDING=1")
	}
	if _, found := hydra.Getenv(program.Env, "OMP_NUM_THREADS"); !found && program.PerProcess > 1 && w.host == "" {
		own = append(own, "OMP_NUM_THREADS="+strconv.Itoa(len(set.Ranks)))
	}
	if len(w.tools)+len(w.heaps) > 0 {
		own = append(own, "TPSL_TOOLS="+strings.Join(w.tools, ":"), "LD_PRELOAD="+strings.Join(w.heaps, ":"))
	}
	if len(set.Ranks) > 1 {
		own = append(own, "TPSL_CONTROL_FD="+strconv.Itoa(controlFD(set)))
		if w.host != "" {
			own = append(own, "TPSL_STDIO="+streamFDs(set, p.plan.Stdio.Stdin))
		}
		if cpus := p.slotCPUs(set, pl); cpus != nil {
			own = append(own, "TPSL_CPUS="+slotList(cpus))
		}
	}
	return append(own, p.deviceSettings(set, pl)...)
}

// session returns the settings by which a set finds its PMI sessions.
func (p *proxy) session(set hydra.RankSet) []string {
	if p.port != nil {
		return []string{"PMI_PORT=" + p.port.listener.Addr().String(), "PMI_ID=" + commaList(set.Ranks)}
	}
	var fds []int
	for i := range set.Ranks {
		fds = append(fds, firstSessionFD+i)
	}
	return []string{
		"PMI_FD=" + commaList(fds),
		"PMI_RANK=" + commaList(set.Ranks),
		"PMI_SIZE=" + strconv.Itoa(p.plan.World.Size),
	}
}

// slotCPUs returns the CPUs of a set's slots, or nil. Ranks that are not bound get one CPU each while there are enough,
// unless the user has asked OpenMP to place threads.
func (p *proxy) slotCPUs(set hydra.RankSet, pl placement) []topology.Set {
	cpus := pl.cpus
	if cpus == nil {
		env := p.plan.Programs[set.Program].Env
		_, bind := hydra.Getenv(env, "OMP_PROC_BIND")
		_, affinity := hydra.Getenv(env, "GOMP_CPU_AFFINITY")
		if len(set.Ranks) == 1 || bind || affinity || pl.spread == nil {
			return nil
		}
		for _, id := range pl.spread {
			cpus = append(cpus, topology.Set{id})
		}
	}
	return cpus[set.Local : set.Local+len(set.Ranks)]
}

func slotList(cpus []topology.Set) string {
	var lists []string
	for _, slot := range cpus {
		lists = append(lists, slot.String())
	}
	return strings.Join(lists, ";")
}

// union returns the CPUs of all of a set's ranks.
func union(set hydra.RankSet, cpus []topology.Set) topology.Set {
	if cpus == nil {
		return nil
	}
	return topology.NewSet(slices.Concat(cpus[set.Local : set.Local+len(set.Ranks)]...)...)
}

func commaList(numbers []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(numbers), "[]"), " ", ",")
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	"github.com/tpsl/tpsl/internal/topology"
)

// A Placement is what the hardware of a host decides about its ranks. The host's proxy makes it before it starts them and
// sends it to the job, which keeps it beside the plan.
type Placement struct {
	Sets   []RankSet      // the sets of the plan, divided further if a program wants a process for each object of a kind
	CPUs   []topology.Set // of each local rank; nil if the rank may run on all CPUs of the job. The list is nil if this is so for every rank
	Bound  bool           // the user has bound the ranks, so their processes are bound too
	Report []string       // lines that say what each rank has got, if the user asks for them
}

// AsPlanned returns the placement of a host where nothing depends on the hardware.
func (h Host) AsPlanned() Placement { return Placement{Sets: h.Sets} }

// NeedsHardware reports whether the placement depends on the hardware. On big machines it takes long to read the hardware.
func (h Host) NeedsHardware() bool {
	shares := func(set RankSet) bool { return len(set.Ranks) > 1 }
	want := h.Hardware
	return want.Bind.Active() || want.Report || want.NICs != "" || want.GPUs != "" || want.MemBind.Active() ||
		h.CutsByObject() || slices.ContainsFunc(h.Sets, shares)
}

// CutsByObject reports whether some program wants a process for each object of a kind.
func (h Host) CutsByObject() bool {
	return slices.ContainsFunc(h.Programs, func(program Program) bool { return program.PerObject != "" })
}

// CheckCuts returns an error if a program wants a process for each object of a kind but the user wants ranks unbound. Without a
// binding it is not known which ranks belong to an object.
func (h Host) CheckCuts() error {
	for _, program := range h.Programs {
		if !h.Hardware.Bind.Active() && program.PerObject != "" && program.PerObject != "node" {
			return fmt.Errorf("-rpp %s cuts by the ranks' binding, but -bind-to none leaves those on %s unbound; use -bind-to core, or -rpp K",
				program.PerObject, h.Name)
		}
	}
	return nil
}

// Place binds the host's ranks to CPUs as the user asks, and decides which ranks share a process. The error says why ranks cannot be
// bound in this way. Preconditions: CheckCuts has not failed.
func (h Host) Place(m *topology.Machine) (p Placement, err error) {
	p = h.AsPlanned()
	bind := h.Hardware.Bind
	if p.Bound = bind.Active(); p.Bound {
		if p.CPUs, err = bind.Deal(h.Ranks, h.Hardware.MapBy, m); err != nil {
			return p, err
		}
	}
	if h.CutsByObject() {
		p.Sets = cutByObject(h.Sets, h.Programs, p.CPUs, m)
	}
	return p, nil
}

// CPUsOf returns the CPUs of each rank of a set, or nil if the ranks run on all CPUs that the job may use.
func (p Placement) CPUsOf(set RankSet) []topology.Set {
	if p.CPUs == nil || p.CPUs[set.Local] == nil {
		return nil
	}
	return p.CPUs[set.Local : set.Local+len(set.Ranks)]
}

// ProcessCPUs returns the CPUs that the process of a set is bound to, or nil.
func (p Placement) ProcessCPUs(set RankSet) topology.Set {
	if !p.Bound {
		return nil
	}
	return topology.NewSet(slices.Concat(p.CPUsOf(set)...)...)
}

// Near returns for each local rank the CPUs on which it runs. These are its own CPUs, or all CPUs of the machine that the job may
// use.
func (p Placement) Near(ranks int, m *topology.Machine) []topology.Set {
	near := slices.Repeat([]topology.Set{m.CPUs}, ranks)
	for local, cpus := range p.CPUs {
		if cpus != nil {
			near[local] = cpus
		}
	}
	return near
}

// Together lists the ranks that share a process with a rank, and the rank itself. It returns nil if the rank is not on the host.
func (p Placement) Together(rank int) []int {
	for _, set := range p.Sets {
		if set.Holds(rank) {
			return set.Ranks
		}
	}
	return nil
}

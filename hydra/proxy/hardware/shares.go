// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/ib"
	"github.com/tpsl/tpsl/internal/topology"
)

// Shares is what each local rank of a host gets of its hardware.
type Shares struct {
	plan.Placement
	host    plan.Host
	machine *topology.Machine // nil where nothing depends on it
	rails   []string          // the NIC of each local rank; nil where UCX chooses
	gpus    []gpuSet          // of each local rank; nil where each sees them all
}

// Place looks at the machine, binds the host's ranks to its CPUs as the user wants, and cuts their sets.
func Place(host plan.Host) (s Shares, err error) {
	s = Shares{Placement: host.AsPlanned(), host: host}
	allowed, err := AllowedCPUs()
	if err != nil || !host.NeedsHardware() {
		return s, err
	}
	if err := host.CheckCuts(); err != nil {
		return s, err
	}
	s.machine = topology.Read(os.DirFS("/sys"), allowed)
	if s.Placement, err = host.Place(s.machine); err != nil {
		return s, fmt.Errorf("bind ranks on %s: %w", host.Name, err)
	}
	return s, nil
}

// Deal gives each rank its part of what the user leaves to us: CPUs, and the devices near them. private tells of each program
// whether its ranks are processes of their own.
func (s *Shares) Deal(private []bool) error {
	if s.machine == nil {
		return nil
	}
	s.Placement = s.host.Pin(s.Placement, private, s.machine)
	if err := s.dealDevices(); err != nil {
		return fmt.Errorf("give ranks on %s their devices: %w", s.host.Name, err)
	}
	if s.host.Hardware.Report {
		s.Report = s.report()
	}
	return nil
}

// Given returns the shares of ranks whose CPUs another launcher has chosen. The host has one set; cpus are those of its ranks.
func Given(host plan.Host, cpus []topology.Set) Shares {
	local := append(make([]topology.Set, host.Sets[0].Local), cpus...)
	return Shares{Placement: plan.Placement{Sets: host.Sets, CPUs: local, Bound: true}, host: host}
}

// dealDevices gives each local rank NICs and GPUs, where the user wants that.
func (s *Shares) dealDevices() error {
	near := s.Near(s.host.Ranks, s.machine)
	if s.host.Hardware.NICs == "near" {
		nics, err := ib.List(os.DirFS("/sys"), s.machine)
		if err != nil {
			return err
		}
		s.rails = ib.Rails(nics, near)
	}
	n, err := strconv.Atoi(s.host.Hardware.GPUs)
	if err != nil {
		return nil // auto, or nothing: each rank sees them all
	}
	s.gpus, err = dealGPUs(n, near, s.host.Programs[0].Env, s.machine)
	return err
}

// RankSettings returns the variables that tell each of a set's ranks its devices. What the user has set stays.
func (s Shares) RankSettings(set plan.RankSet) [][]string {
	env := s.host.Programs[set.Program].Env
	settings := make([][]string, len(set.Ranks))
	for i := range set.Ranks {
		if _, theirs := plan.Getenv(env, "UCX_NET_DEVICES"); s.rails != nil && !theirs {
			settings[i] = append(settings[i], "UCX_NET_DEVICES="+s.rails[set.Local+i])
		}
		if s.gpus != nil {
			settings[i] = append(settings[i], s.gpus[set.Local+i].settings()...)
		}
	}
	return settings
}

// ProcessSettings returns the variables that tell the process of a set its share: the devices, and if several ranks share it,
// their CPUs. Libraries that its ranks share see the GPUs of all.
func (s Shares) ProcessSettings(set plan.RankSet) []string {
	ranks := s.RankSettings(set)
	if len(ranks) == 1 {
		return ranks[0]
	}
	var settings []string
	if cpus := s.CPUsOf(set); cpus != nil {
		settings = append(settings, "TPSL_CPUS="+slotList(cpus))
	}
	if s.gpus != nil {
		settings = append(settings, join(s.gpus[set.Local:set.Local+len(ranks)]).settings()...)
	}
	var slots []string
	for _, own := range ranks {
		slots = append(slots, strings.Join(own, " "))
	}
	if list := strings.Join(slots, ";"); strings.Trim(list, ";") != "" {
		settings = append(settings, "TPSL_ENV="+list)
	}
	return settings
}

func slotList(cpus []topology.Set) string {
	var lists []string
	for _, slot := range cpus {
		lists = append(lists, slot.String())
	}
	return strings.Join(lists, ";")
}

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
	cpus := host.Pin(placement, []bool{false}, m).Near(ranks, m)
	return cpus, ib.Rails(nics, cpus), nil
}

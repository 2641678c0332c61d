// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra"
)

// allowedCPUs lists the CPUs this process may run on, with their place in the machine.
func allowedCPUs() ([]hydra.CPU, error) {
	var mask unix.CPUSet
	if err := unix.SchedGetaffinity(0, &mask); err != nil {
		return nil, fmt.Errorf("read CPU mask: %w", err)
	}
	var cpus []hydra.CPU
	for id := range len(mask) * 64 {
		if mask.IsSet(id) {
			cpus = append(cpus, hydra.CPU{ID: id, Core: topologyID(id, "core_id"), Package: topologyID(id, "physical_package_id")})
		}
	}
	return cpus, nil
}

// topologyID reads /sys/devices/system/cpu/cpuN/topology. Where it is missing every CPU is its own core.
func topologyID(cpu int, name string) int {
	text, err := os.ReadFile(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/topology/%s", cpu, name))
	id, convErr := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || convErr != nil {
		if name == "core_id" {
			return cpu
		}
		return 0
	}
	return id
}

// rankCPUs gives each local rank its CPUs, or nil when ranks are not bound.
func (p *proxy) rankCPUs(allowed []hydra.CPU) ([][]int, error) {
	if !p.plan.Placement.Bind.Active() {
		return nil, nil
	}
	sets, err := p.plan.Placement.Bind.Deal(p.plan.Ranks, allowed)
	if err != nil {
		return nil, fmt.Errorf("bind ranks on %s: %w", p.plan.Host, err)
	}
	return sets, nil
}

// spread orders CPUs so that every core comes once before any comes twice.
func spread(cpus []hydra.CPU) []int {
	type core struct{ pkg, id int }
	depth := map[core]int{}
	type placed struct {
		hydra.CPU
		depth int
	}
	var order []placed
	for _, cpu := range cpus { // ascending CPU numbers
		c := core{cpu.Package, cpu.Core}
		order = append(order, placed{cpu, depth[c]})
		depth[c]++
	}
	slices.SortStableFunc(order, func(a, b placed) int { return a.depth - b.depth })
	ids := make([]int, len(order))
	for i, cpu := range order {
		ids[i] = cpu.ID
	}
	return ids
}

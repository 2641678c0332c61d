// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/internal/topology"
)

// gpuVariables say to each vendor's libraries which GPUs there are.
var gpuVariables = []struct {
	vendor uint16
	name   string
}{
	{topology.VendorNVIDIA, "CUDA_VISIBLE_DEVICES"},
	{topology.VendorAMD, "ROCR_VISIBLE_DEVICES"},
	{topology.VendorIntel, "ZE_AFFINITY_MASK"},
}

// gpuSet is the GPUs of a rank or process.
type gpuSet struct {
	variable string
	ids      []string // as the variable names them
	numbered bool     // the IDs are our numbers, in the order of the GPUs' addresses
}

func (g gpuSet) settings() []string {
	ids := strings.Join(g.ids, ",")
	if ids == "" {
		ids = "-1" // to some libraries an empty list means all GPUs
	}
	settings := []string{g.variable + "=" + ids}
	if g.numbered && g.variable == "CUDA_VISIBLE_DEVICES" {
		settings = append(settings, "CUDA_DEVICE_ORDER=PCI_BUS_ID") // else CUDA counts the fastest GPU first
	}
	return settings
}

// join returns the GPUs of all ranks of a process.
func join(sets []gpuSet) gpuSet {
	all := gpuSet{variable: sets[0].variable, numbered: sets[0].numbered}
	for _, g := range sets {
		all.ids = append(all.ids, g.ids...)
	}
	slices.Sort(all.ids)
	return all
}

// dealGPUs gives each rank perRank GPUs of its own, those near its CPUs first. It returns nil if the machine has no GPUs.
func dealGPUs(perRank int, ranks []topology.Set, env []string, m *topology.Machine) ([]gpuSet, error) {
	variable, pool, numbered := visible(env, m)
	if perRank*len(ranks) > len(pool) {
		return nil, fmt.Errorf("-gpus-per-proc %d needs %d GPUs for %d ranks, but there are %d; start fewer ranks on the host, or use -gpus-per-proc auto",
			perRank, perRank*len(ranks), len(ranks), len(pool))
	}
	if variable == "" {
		return nil, nil
	}
	var sets []gpuSet
	for _, cpus := range ranks {
		nearest := slices.SortedStableFunc(slices.Values(pool), func(a, b gpu) int { return len(b.cpus.And(cpus)) - len(a.cpus.And(cpus)) })
		mine := gpuSet{variable: variable, numbered: numbered}
		for _, g := range nearest[:perRank] {
			mine.ids = append(mine.ids, g.id)
		}
		sets = append(sets, mine)
		pool = slices.DeleteFunc(pool, func(g gpu) bool { return slices.Contains(mine.ids, g.id) })
	}
	return sets, nil
}

type gpu struct {
	id   string
	cpus topology.Set // near it
}

// visible lists the GPUs that the job may use: those that the vendor's variable in env names, which a resource manager may
// have set, else all GPUs of the first vendor that the machine has.
func visible(env []string, m *topology.Machine) (variable string, pool []gpu, numbered bool) {
	for _, v := range gpuVariables {
		all := slices.DeleteFunc(m.GPUs(), func(d topology.Device) bool { return d.Vendor != v.vendor })
		if len(all) == 0 {
			continue
		}
		if list, limited := plan.Getenv(env, v.name); limited {
			return v.name, named(list, all, m.CPUs), false
		}
		for i, d := range all {
			pool = append(pool, gpu{strconv.Itoa(i), d.CPUs})
		}
		_, ordered := plan.Getenv(env, "CUDA_DEVICE_ORDER")
		return v.name, pool, !ordered
	}
	return "", nil, false
}

// named lists the GPUs that a variable's value names, by numbers or by other names. It is not known where a GPU of the
// latter kind is.
func named(list string, all []topology.Device, everywhere topology.Set) (pool []gpu) {
	for id := range strings.FieldsFuncSeq(list, func(c rune) bool { return c == ',' }) {
		i, err := strconv.Atoi(id)
		switch {
		case err != nil:
			pool = append(pool, gpu{id, everywhere})
		case i < 0:
			return pool // a negative number hides what follows
		case i < len(all):
			pool = append(pool, gpu{id, all[i].CPUs})
		}
	}
	return pool
}

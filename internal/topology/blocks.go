// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package topology

import "slices"

// CoresFirst orders CPUs so that every core comes once before any comes twice.
func (m *Machine) CoresFirst() Set {
	var order Set
	for depth := 0; len(order) < len(m.CPUs); depth++ {
		var cpus Set
		for _, core := range m.Objects(Core) {
			if depth < len(core.CPUs) {
				cpus = append(cpus, core.CPUs[depth])
			}
		}
		slices.Sort(cpus)
		order = append(order, cpus...)
	}
	return order
}

// Blocks gives each of n ranks the same number of neighbouring cores, as many as there are for
// all, and all CPUs of these cores. No block lies in two NUMA nodes if the nodes hold n blocks
// of that size. Cores that are left over belong to no block, as ranks that compute in step wait for the slowest.
// Where there are fewer cores than ranks each rank gets one CPU; where there are fewer CPUs than ranks,
// Blocks returns nil.
func (m *Machine) Blocks(n int) []Set {
	cores := m.Objects(Core)
	size := len(cores) / n
	if len(m.CPUs) < n {
		return nil
	}
	if size == 0 {
		blocks := make([]Set, n)
		for i, cpu := range m.CoresFirst()[:n] {
			blocks[i] = Set{cpu}
		}
		return blocks
	}
	var blocks []Set
	for _, node := range m.Objects(NUMA) {
		blocks = append(blocks, runs(within(cores, node.CPUs), size)...)
	}
	if len(blocks) < n {
		blocks = runs(cores, size)
	}
	return blocks[:n]
}

// within returns the objects that have all their CPUs in a set.
func within(objects []Object, cpus Set) (inside []Object) {
	for _, o := range objects {
		if len(o.CPUs.And(cpus)) == len(o.CPUs) {
			inside = append(inside, o)
		}
	}
	return inside
}

// runs joins the CPUs of as many neighbours at a time as size says. Fewer at the end are left out.
func runs(objects []Object, size int) (joined []Set) {
	for some := range slices.Chunk(objects, size) {
		if len(some) < size {
			break
		}
		var cpus Set
		for _, o := range some {
			cpus = append(cpus, o.CPUs...)
		}
		joined = append(joined, NewSet(cpus...))
	}
	return joined
}

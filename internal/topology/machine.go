// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
)

// A Kind is a kind of hardware that has CPUs.
type Kind string

// The kinds. Caches have more: l1cache to l5cache, which hold data, and l1icache and its like, which do not.
const (
	HWThread Kind = "hwthread"
	Core     Kind = "core"
	Socket   Kind = "socket"
	NUMA     Kind = "numa"
	Whole    Kind = "machine"
)

// cacheKind returns the kind of a cache of a level that holds instructions only, or data too.
func cacheKind(level int, instructions bool) Kind {
	if instructions {
		return Kind("l" + strconv.Itoa(level) + "icache")
	}
	return Kind("l" + strconv.Itoa(level) + "cache")
}

// An Object is a piece of hardware.
type Object struct {
	ID   int // the kernel's number
	CPUs Set // that may be used

	first int // its first CPU, whether it may be used or not
}

// A CoreType is one kind of core of a machine that has several.
type CoreType struct {
	Name string // the kernel's, as cpu_core and cpu_atom, or the capacity out of 1024
	CPUs Set
}

// A Device is a PCI device.
type Device struct {
	Address string // as 0000:41:00.0
	Class   uint32 // three bytes: class, subclass, programming interface
	Vendor  uint16
	Node    int      // nearest NUMA node, -1 where unknown
	CPUs    Set      // near it, of those that may be used; all where unknown
	Net     []string // its network interfaces
	RDMA    []string // its RDMA devices
}

// A Machine is what is known of a machine, cut down to the CPUs that may be used.
type Machine struct {
	CPUs    Set
	Nodes   []Object // NUMA nodes, those without CPUs that may be used, too
	Types   []CoreType
	Devices []Device

	objects map[Kind][]Object
}

// Objects returns the objects of a kind that have CPUs, in the order of the tree that they make: those of the first
// socket before those of the second one, whatever their numbers are. A set of CPUs comes once, as NUMA nodes of fast and of slow memory may
// have the same ones.
func (m *Machine) Objects(kind Kind) []Object { return m.objects[kind] }

// order sorts every kind's objects along the tree. The kind with the fewest objects is nearest to its root.
func (m *Machine) order() {
	kinds := slices.SortedFunc(maps.Keys(m.objects), func(a, b Kind) int {
		return cmp.Or(cmp.Compare(len(m.objects[a]), len(m.objects[b])), cmp.Compare(a, b))
	})
	path := map[int][]int{} // to each CPU: the first CPUs of the objects around it
	for _, kind := range kinds {
		around := map[int]int{}
		for _, object := range m.objects[kind] {
			for _, cpu := range object.CPUs {
				around[cpu] = object.first
			}
		}
		for _, cpu := range m.CPUs {
			first, found := around[cpu]
			if !found {
				first = cpu
			}
			path[cpu] = append(path[cpu], first)
		}
	}
	for _, objects := range m.objects {
		slices.SortFunc(objects, func(a, b Object) int { return slices.Compare(path[a.CPUs[0]], path[b.CPUs[0]]) })
	}
}

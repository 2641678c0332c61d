// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"io/fs"
	"slices"
	"strconv"
)

// Read reads the tree of /sys whose root is sys. allowed are the CPUs that the caller may use, its affinity mask; nil
// stands for all that are online.
func Read(sys fs.FS, allowed Set) *Machine {
	t := tree{sys}
	m := &Machine{CPUs: allowed, objects: map[Kind][]Object{}}
	if allowed == nil {
		m.CPUs = t.set("devices/system/cpu/online")
	}
	for _, cpu := range m.CPUs {
		t.readCPU(m, cpu)
	}
	m.add(Whole, 0, m.CPUs)
	t.readNodes(m)
	t.readTypes(m)
	t.readDevices(m)
	m.order()
	return m
}

// add enters an object, unless it has no CPU or one with the same CPUs is there.
func (m *Machine) add(kind Kind, id int, cpus Set) {
	ours := cpus.And(m.CPUs)
	same := func(o Object) bool { return slices.Equal(o.CPUs, ours) }
	if len(ours) > 0 && !slices.ContainsFunc(m.objects[kind], same) {
		m.objects[kind] = append(m.objects[kind], Object{ID: id, CPUs: ours, first: cpus[0]})
	}
}

// has reports whether the CPU is in an object of the kind. What is around a core need not be read from each CPU.
func (m *Machine) has(kind Kind, cpu int) bool {
	return slices.ContainsFunc(m.objects[kind], func(o Object) bool { return o.CPUs.Has(cpu) })
}

// readCPU enters the objects around a CPU. Where the kernel does not tell, it is a core of its own, in the one socket.
func (t tree) readCPU(m *Machine, cpu int) {
	folder := "devices/system/cpu/cpu" + strconv.Itoa(cpu)
	m.add(HWThread, cpu, Set{cpu})
	if m.has(Core, cpu) {
		return // what is around a core is around all of it
	}
	core := t.holding(cpu, folder+"/topology/core_cpus_list", folder+"/topology/thread_siblings_list")
	if core == nil {
		core = Set{cpu}
	}
	m.add(Core, t.number(folder+"/topology/core_id", cpu), core)
	if !m.has(Socket, cpu) {
		socket := t.holding(cpu, folder+"/topology/package_cpus_list", folder+"/topology/core_siblings_list")
		if socket == nil {
			socket = m.CPUs
		}
		m.add(Socket, t.number(folder+"/topology/physical_package_id", 0), socket)
	}
	for _, cache := range t.list(folder + "/cache") {
		t.readCache(m, cpu, folder+"/cache/"+cache)
	}
}

func (t tree) readCache(m *Machine, cpu int, folder string) {
	level := t.number(folder+"/level", 0)
	kind := cacheKind(level, t.text(folder+"/type") == "Instruction")
	if level == 0 || m.has(kind, cpu) {
		return
	}
	if cpus := t.holding(cpu, folder+"/shared_cpu_list"); cpus != nil {
		m.add(kind, t.number(folder+"/id", 0), cpus)
	}
}

// readNodes enters the NUMA nodes. Where none is known the machine is one.
func (t tree) readNodes(m *Machine) {
	for _, name := range t.list("devices/system/node") {
		id, isNode := numbered(name, "node")
		if !isNode {
			continue
		}
		cpus := t.set("devices/system/node/" + name + "/cpulist").And(m.CPUs)
		m.Nodes = append(m.Nodes, Object{ID: id, CPUs: cpus})
		m.add(NUMA, id, cpus)
	}
	slices.SortFunc(m.Nodes, func(a, b Object) int { return a.ID - b.ID })
	if len(m.objects[NUMA]) == 0 {
		m.add(NUMA, 0, m.CPUs)
	}
}

// readTypes enters the kinds of cores of a machine that has several: by the counters that each has (x86), or by their
// capacity (Arm).
func (t tree) readTypes(m *Machine) {
	for _, name := range []string{"cpu_core", "cpu_atom", "cpu_lowpower"} {
		m.addType(name, t.set("devices/"+name+"/cpus"))
	}
	byCapacity := map[int][]int{}
	for _, cpu := range m.CPUs {
		capacity := t.number("devices/system/cpu/cpu"+strconv.Itoa(cpu)+"/cpu_capacity", 0)
		byCapacity[capacity] = append(byCapacity[capacity], cpu)
	}
	if len(m.Types) > 0 || len(byCapacity) < 2 {
		return
	}
	for capacity, cpus := range byCapacity {
		m.addType(strconv.Itoa(capacity), NewSet(cpus...))
	}
	slices.SortFunc(m.Types, func(a, b CoreType) int { return a.CPUs[0] - b.CPUs[0] })
}

func (m *Machine) addType(name string, cpus Set) {
	if cpus = cpus.And(m.CPUs); len(cpus) > 0 {
		m.Types = append(m.Types, CoreType{name, cpus})
	}
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package topologytest

import (
	"fmt"
	"strconv"
	"testing/fstest"

	"github.com/tpsl/tpsl/internal/topology"
)

// A Machine is made of sockets, these of NUMA nodes, of L3 caches, of cores, of hardware threads.
type Machine struct {
	Sockets int
	Nodes   int // of each socket
	L3      int // of each node
	Cores   int // of each L3
	SMT     int // hardware threads of each core

	Adjacent    bool         // the threads of a core have adjacent numbers; else the second threads follow all first ones
	Interleaved bool         // numbers go round the sockets
	Offline     topology.Set // CPUs
	Memory      []int        // nodes without CPUs
	Devices     []Device
}

// A Device is a PCI device near a node.
type Device struct {
	Address       string
	Class, Vendor int
	Node          int
	Net           string
	RDMA          string
	Rate          string // of the RDMA device's port, as "200 Gb/sec (4X HDR)"
	Down          bool   // the port has no link
	Ethernet      bool   // the port's link layer
}

// A place is where a hardware thread sits; cores count within the machine.
type place struct{ socket, node, l3, core, thread int }

// Tree writes the machine's /sys.
func (m Machine) Tree() fstest.MapFS {
	t := fstest.MapFS{}
	places := m.places()
	online := topology.Set{}
	for cpu, p := range places {
		write(t, "devices/system/cpu/cpu%d/uevent", "", cpu)
		if !m.Offline.Has(cpu) {
			online = append(online, cpu)
			m.writeCPU(t, cpu, p, places)
		}
	}
	write(t, "devices/system/cpu/online", online.String())
	write(t, "devices/system/cpu/present", topology.Set{0}.Or(topology.Set{len(places) - 1}).String())
	for node := range m.Sockets * m.Nodes {
		m.writeNode(t, node, m.online(places, func(p place) bool { return p.node == node }))
	}
	for _, node := range m.Memory {
		m.writeNode(t, node, nil)
	}
	for _, d := range m.Devices {
		d.write(t, m.online(places, func(p place) bool { return p.node == d.Node }))
	}
	return t
}

// places lists where each CPU number sits.
func (m Machine) places() []place {
	perSocket := m.Nodes * m.L3 * m.Cores
	cores := m.Sockets * perSocket
	places := make([]place, cores*m.SMT)
	for core := range cores {
		socket := core / perSocket
		for thread := range m.SMT {
			index := core
			if m.Interleaved {
				index = core%perSocket*m.Sockets + socket
			}
			cpu := thread*cores + index
			if m.Adjacent {
				cpu = index*m.SMT + thread
			}
			places[cpu] = place{socket, core / (m.L3 * m.Cores), core / m.Cores, core, thread}
		}
	}
	return places
}

func (m Machine) online(places []place, in func(place) bool) (cpus topology.Set) {
	for cpu, p := range places {
		if in(p) && !m.Offline.Has(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}

func (m Machine) writeCPU(t fstest.MapFS, cpu int, p place, places []place) {
	siblings := m.online(places, func(o place) bool { return o.core == p.core })
	socket := m.online(places, func(o place) bool { return o.socket == p.socket })
	const folder = "devices/system/cpu/cpu%d/"
	write(t, folder+"topology/core_id", strconv.Itoa(p.core%(m.Nodes*m.L3*m.Cores)), cpu)
	write(t, folder+"topology/physical_package_id", strconv.Itoa(p.socket), cpu)
	write(t, folder+"topology/core_cpus_list", siblings.String(), cpu)
	write(t, folder+"topology/package_cpus_list", socket.String(), cpu)
	for i, cache := range []struct {
		level, kind string
		cpus        topology.Set
	}{
		{"1", "Data", siblings}, {"1", "Instruction", siblings}, {"2", "Unified", siblings},
		{"3", "Unified", m.online(places, func(o place) bool { return o.l3 == p.l3 })},
	} {
		write(t, folder+"cache/index%d/level", cache.level, cpu, i)
		write(t, folder+"cache/index%d/type", cache.kind, cpu, i)
		write(t, folder+"cache/index%d/shared_cpu_list", cache.cpus.String(), cpu, i)
	}
}

func (m Machine) writeNode(t fstest.MapFS, node int, cpus topology.Set) {
	write(t, "devices/system/node/node%d/cpulist", cpus.String(), node)
}

// write adds a file whose name has the arguments.
func write(t fstest.MapFS, name, text string, args ...any) {
	t[fmt.Sprintf(name, args...)] = &fstest.MapFile{Data: []byte(text + "\n"), Mode: 0o444}
}

func (d Device) write(t fstest.MapFS, near topology.Set) {
	folder := "bus/pci/devices/" + d.Address + "/"
	write(t, "%sclass", fmt.Sprintf("0x%06x", d.Class), folder)
	write(t, "%svendor", fmt.Sprintf("0x%04x", d.Vendor), folder)
	write(t, "%snuma_node", strconv.Itoa(d.Node), folder)
	write(t, "%slocal_cpulist", near.String(), folder)
	if d.Net != "" {
		write(t, "%snet/%s/mtu", "1500", folder, d.Net)
	}
	if d.RDMA != "" {
		write(t, "%sinfiniband/%s/node_type", "1: CA", folder, d.RDMA)
		d.writePort(t)
	}
}

func (d Device) writePort(t fstest.MapFS) {
	state, layer := "4: ACTIVE", "InfiniBand"
	if d.Down {
		state = "1: DOWN"
	}
	if d.Ethernet {
		layer = "Ethernet"
	}
	for name, text := range map[string]string{"state": state, "rate": d.Rate, "link_layer": layer} {
		write(t, "class/infiniband/%s/ports/1/%s", text, d.RDMA, name)
	}
}

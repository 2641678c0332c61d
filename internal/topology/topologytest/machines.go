// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package topologytest

import (
	"testing/fstest"

	"github.com/tpsl/tpsl/internal/topology"
)

// Classes and vendors of PCI devices.
const (
	classVGA, class3D, classEthernet, classInfiniBand = 0x030000, 0x030200, 0x020000, 0x020700
	vendorNVIDIA, vendorMellanox, vendorAspeed        = 0x10de, 0x15b3, 0x1a03
)

// TwoSockets has 2 sockets of 64 cores with two threads each, two InfiniBand adapters and four GPUs, half of them near each socket.
var TwoSockets = Machine{
	Sockets: 2, Nodes: 1, L3: 8, Cores: 8, SMT: 2,
	Devices: []Device{
		{Address: "0000:03:00.0", Class: classVGA, Vendor: vendorAspeed},
		{Address: "0000:21:00.0", Class: classInfiniBand, Vendor: vendorMellanox, Net: "ib0", RDMA: "mlx5_0", Rate: "200 Gb/sec (4X HDR)"},
		{Address: "0000:41:00.0", Class: class3D, Vendor: vendorNVIDIA},
		{Address: "0000:42:00.0", Class: class3D, Vendor: vendorNVIDIA},
		{Address: "0000:61:00.0", Class: classEthernet, Vendor: 0x8086, Net: "eno1"},
		{Address: "0000:a1:00.0", Class: classInfiniBand, Vendor: vendorMellanox, Node: 1, Net: "ib1", RDMA: "mlx5_1", Rate: "200 Gb/sec (4X HDR)"},
		{Address: "0000:c1:00.0", Class: class3D, Vendor: vendorNVIDIA, Node: 1},
		{Address: "0000:c2:00.0", Class: class3D, Vendor: vendorNVIDIA, Node: 1},
	},
}

// FourNodes has a socket that is set up as 4 NUMA nodes, each with two L3 caches.
var FourNodes = Machine{Sockets: 1, Nodes: 4, L3: 2, Cores: 4, SMT: 1}

// MemoryNodes has 2 sockets with fast memory, and two nodes of memory behind a bus.
var MemoryNodes = Machine{Sockets: 2, Nodes: 1, L3: 1, Cores: 4, SMT: 1, Memory: []int{2, 3}}

// Interleaved has 2 sockets whose cores have even and odd numbers, and offline CPUs.
var Interleaved = Machine{Sockets: 2, Nodes: 1, L3: 1, Cores: 4, SMT: 2, Interleaved: true, Offline: topology.NewSet(2, 9, 15)}

// Hybrid has 4 big cores of two threads and 8 small ones, four of which share an L2.
func Hybrid() fstest.MapFS {
	t := Machine{Sockets: 1, Nodes: 1, L3: 1, Cores: 8, SMT: 2, Adjacent: true}.Tree()
	whole := topology.Set{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	write(t, "devices/cpu_core/cpus", whole[:8].String())
	write(t, "devices/cpu_atom/cpus", whole[8:].String())
	for cpu := 8; cpu < 16; cpu++ {
		const folder = "devices/system/cpu/cpu%d/"
		own, l2 := topology.Set{cpu}.String(), whole[cpu/4*4:cpu/4*4+4].String()
		write(t, folder+"topology/core_id", topology.Set{cpu + 8}.String(), cpu)
		write(t, folder+"topology/core_cpus_list", own, cpu)
		write(t, folder+"cache/index0/shared_cpu_list", own, cpu)
		write(t, folder+"cache/index1/shared_cpu_list", own, cpu)
		write(t, folder+"cache/index2/shared_cpu_list", l2, cpu)
	}
	return t
}

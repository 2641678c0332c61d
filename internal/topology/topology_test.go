// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package topology_test

import (
	"io/fs"
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/topology"
	"github.com/tpsl/tpsl/internal/topology/topologytest"
)

// sets returns the CPU lists of the objects of a kind.
func sets(m *topology.Machine, kind topology.Kind) []string {
	var lists []string
	for _, o := range m.Objects(kind) {
		lists = append(lists, o.CPUs.String())
	}
	return lists
}

func set(t testing.TB, list string) topology.Set {
	s, err := topology.ParseSet(list)
	require.NoError(t, err)
	return s
}

func TestMachines(t *testing.T) {
	for name, c := range map[string]struct {
		sys     fs.FS
		allowed string // "" is nil
		kind    topology.Kind
		want    []string
	}{
		"sockets with SMT":               {topologytest.TwoSockets.Tree(), "", "socket", []string{"0-63,128-191", "64-127,192-255"}},
		"L3 of some cores":               {topologytest.TwoSockets.Tree(), "60-69,191", "l3cache", []string{"60-63,191", "64-69"}},
		"cores with SMT":                 {topologytest.TwoSockets.Tree(), "1,2,130", "core", []string{"1", "2,130"}},
		"nodes of one socket":            {topologytest.FourNodes.Tree(), "", "numa", []string{"0-7", "8-15", "16-23", "24-31"}},
		"L3 within nodes":                {topologytest.FourNodes.Tree(), "0-15", "l3cache", []string{"0-3", "4-7", "8-11", "12-15"}},
		"memory-only nodes":              {topologytest.MemoryNodes.Tree(), "", "numa", []string{"0-3", "4-7"}},
		"interleaved, offline":           {topologytest.Interleaved.Tree(), "", "core", []string{"0,8", "4,12", "6,14", "10", "1", "3,11", "5,13", "7"}},
		"interleaved threads":            {topologytest.Interleaved.Tree(), "", "hwthread", []string{"0", "8", "4", "12", "6", "14", "10", "1", "3", "11", "5", "13", "7"}},
		"order by the whole machine":     {topologytest.TwoSockets.Tree(), "1,2,128,65", "core", []string{"128", "1", "2", "65"}},
		"hybrid cores":                   {topologytest.Hybrid(), "", "core", []string{"0-1", "2-3", "4-5", "6-7", "8", "9", "10", "11", "12", "13", "14", "15"}},
		"hybrid L2":                      {topologytest.Hybrid(), "", "l2cache", []string{"0-1", "2-3", "4-5", "6-7", "8-11", "12-15"}},
		"instruction caches":             {topologytest.Hybrid(), "0-3", "l1icache", []string{"0-1", "2-3"}},
		"no such cache":                  {topologytest.Hybrid(), "", "l4cache", nil},
		"container with holes":           {topologytest.FourNodes.Tree(), "3,9-10,25", "numa", []string{"3", "9-10", "25"}},
		"no /sys: a core for each":       {fstest.MapFS{}, "1,4", "core", []string{"1", "4"}},
		"no /sys: one socket":            {fstest.MapFS{}, "1,4", "socket", []string{"1,4"}},
		"no /sys: one node":              {fstest.MapFS{}, "1,4", "numa", []string{"1,4"}},
		"machine":                        {topologytest.FourNodes.Tree(), "", "machine", []string{"0-31"}},
		"CPUs that /sys does not have":   {topologytest.FourNodes.Tree(), "31-33", "core", []string{"31", "32", "33"}},
		"nothing known, nothing allowed": {fstest.MapFS{}, "", "core", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var allowed topology.Set
			if c.allowed != "" {
				allowed = set(t, c.allowed)
			}
			assert.Equal(t, c.want, sets(topology.Read(c.sys, allowed), c.kind))
		})
	}
}

func TestNodesAndTypes(t *testing.T) {
	m := topology.Read(topologytest.MemoryNodes.Tree(), topology.Set{1})
	require.Len(t, m.Nodes, 4)
	assert.Equal(t, topology.Object{ID: 0, CPUs: topology.Set{1}}, m.Nodes[0])
	assert.Equal(t, 3, m.Nodes[3].ID)
	assert.Empty(t, m.Nodes[3].CPUs)
	assert.Empty(t, m.Types)
	m = topology.Read(topologytest.Hybrid(), set(t, "6-9"))
	assert.Equal(t, []topology.CoreType{{Name: "cpu_core", CPUs: set(t, "6-7")}, {Name: "cpu_atom", CPUs: set(t, "8-9")}}, m.Types)

	arm := topologytest.FourNodes.Tree()
	for cpu, capacity := range []string{"1024", "446", "446", "1024"} {
		arm["devices/system/cpu/cpu"+topology.Set{cpu}.String()+"/cpu_capacity"] = &fstest.MapFile{Data: []byte(capacity)}
	}
	m = topology.Read(arm, set(t, "0-3"))
	assert.Equal(t, []topology.CoreType{{Name: "1024", CPUs: set(t, "0,3")}, {Name: "446", CPUs: set(t, "1-2")}}, m.Types)
}

func TestDevices(t *testing.T) {
	m := topology.Read(topologytest.TwoSockets.Tree(), set(t, "0-3,64"))
	d, found := m.PCI("A1:00.0")
	require.True(t, found)
	assert.Equal(t, topology.Device{Address: "0000:a1:00.0", Class: 0x020700, Vendor: 0x15b3, Node: 1, CPUs: topology.Set{64},
		Net: []string{"ib1"}, RDMA: []string{"mlx5_1"}}, d)
	sys := topologytest.TwoSockets.Tree()
	delete(sys, "bus/pci/devices/0000:a1:00.0/local_cpulist")
	d, _ = topology.Read(sys, set(t, "0-3,64")).PCI("a1:00.0")
	assert.Equal(t, set(t, "0-3,64"), d.CPUs, "where the kernel does not tell")
	_, found = m.PCI("0000:a2:00.0")
	assert.False(t, found)
	var gpus []string
	for _, gpu := range m.GPUs() {
		gpus = append(gpus, gpu.Address)
	}
	assert.Equal(t, []string{"0000:41:00.0", "0000:42:00.0", "0000:c1:00.0", "0000:c2:00.0"}, gpus, "not the management controller's")
}

// Garbage in one file takes no more away than that file said.
func TestGarbage(t *testing.T) {
	for _, garbage := range []string{"", "x", "0-", "4294967295", "0-99999999", "-1"} {
		sys := topologytest.FourNodes.Tree()
		for _, name := range []string{"topology/core_cpus_list", "topology/package_cpus_list", "topology/core_id", "cache/index3/level"} {
			sys["devices/system/cpu/cpu5/"+name] = &fstest.MapFile{Data: []byte(garbage)}
		}
		sys["devices/system/node/node1/cpulist"] = &fstest.MapFile{Data: []byte(garbage)}
		m := topology.Read(sys, set(t, "4-9"))
		assert.Equal(t, []string{"4", "5", "6", "7", "8", "9"}, sets(m, "core"), garbage)
		assert.Equal(t, []string{"4-7"}, sets(m, "numa"), garbage)
		assert.Equal(t, []string{"4-7", "8-9"}, sets(m, "l3cache"), garbage)
	}
}

// The machine that runs the test: every CPU is in one object of each kind that all machines have.
func TestThisMachine(t *testing.T) {
	m := topology.Read(os.DirFS("/sys"), nil)
	require.NotEmpty(t, m.CPUs)
	for _, kind := range []topology.Kind{"hwthread", "core", "socket", "numa", "machine"} {
		var all topology.Set
		count := 0
		for _, o := range m.Objects(kind) {
			all = all.Or(o.CPUs)
			count += len(o.CPUs)
		}
		assert.Equal(t, m.CPUs, all, kind)
		assert.Equal(t, len(m.CPUs), count, kind)
	}
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/internal/topology"
	"github.com/tpsl/tpsl/internal/topology/topologytest"
)

func cpus(t testing.TB, list string) topology.Set {
	s, err := topology.ParseSet(list)
	require.NoError(t, err)
	return s
}

func TestDescribe(t *testing.T) {
	big := topology.Read(topologytest.TwoSockets.Tree(), cpus(t, "0-255"))
	nps4 := topology.Read(topologytest.FourNodes.Tree(), cpus(t, "0-31"))
	hybrid := topology.Read(topologytest.Hybrid(), cpus(t, "0-15"))
	for _, c := range []struct {
		m          *topology.Machine
		cpus, want string
	}{
		{big, "0,128", "CPUs 0,128: core 0 of socket 0; NUMA node 0"},
		{big, "64", "CPU 64: core 0 of socket 1; NUMA node 1"},
		{big, "62-65", "CPUs 62-65: cores 62-63 of socket 0 and cores 0-1 of socket 1; NUMA nodes 0-1"},
		{big, "0-255", "CPUs 0-255: socket 0 and socket 1; NUMA nodes 0-1"},
		{nps4, "8-15", "CPUs 8-15: cores 8-15 of socket 0; NUMA node 1"},
		{hybrid, "0-1", "CPUs 0-1: core 0 of socket 0; NUMA node 0, cpu_core"},
		{hybrid, "7-8", "CPUs 7-8: cores 3,16 of socket 0; NUMA node 0, cpu_core, cpu_atom"},
	} {
		assert.Equal(t, c.want, describe(c.m, cpus(t, c.cpus)))
	}
}

func TestReportBindings(t *testing.T) {
	m := topology.Read(topologytest.FourNodes.Tree(), cpus(t, "0-31"))
	sets := []plan.RankSet{{Ranks: []int{4, 5}}, {Ranks: []int{6}, Local: 2}}
	host := plan.Host{Name: "h", Ranks: 3, Programs: []plan.Program{{PerProcess: 2}}}
	for _, c := range []struct {
		shares Shares
		want   []string
	}{
		{Shares{Placement: plan.Placement{Sets: sets, CPUs: []topology.Set{{0}, {8}, {9}}, Bound: true}, host: host, machine: m}, []string{
			"rank 4 on h (ranks 4-5 in one process): CPU 0: core 0 of socket 0; NUMA node 0",
			"rank 5 on h (ranks 4-5 in one process): CPU 8: core 8 of socket 0; NUMA node 1",
			"rank 6 on h: CPU 9: core 9 of socket 0; NUMA node 1",
		}},
		{Shares{Placement: plan.Placement{Sets: sets, CPUs: []topology.Set{{3}, {4}, nil}}, host: host, machine: m}, []string{
			"rank 4 on h (ranks 4-5 in one process): CPU 3: core 3 of socket 0; NUMA node 0",
			"rank 5 on h (ranks 4-5 in one process): CPU 4: core 4 of socket 0; NUMA node 0",
			"rank 6 on h: not bound, CPUs 0-31: socket 0; NUMA nodes 0-3",
		}},
		{Shares{Placement: plan.Placement{Sets: sets, CPUs: []topology.Set{{0}, {8}, {9}}, Bound: true}, host: host, machine: m, rails: []string{"eth0", "eth1", "eth0"}}, []string{
			"rank 4 on h (ranks 4-5 in one process): CPU 0: core 0 of socket 0; NUMA node 0; UCX_NET_DEVICES=eth0",
			"rank 5 on h (ranks 4-5 in one process): CPU 8: core 8 of socket 0; NUMA node 1; UCX_NET_DEVICES=eth1",
			"rank 6 on h: CPU 9: core 9 of socket 0; NUMA node 1; UCX_NET_DEVICES=eth0",
		}},
	} {
		assert.Equal(t, c.want, c.shares.report())
	}
}

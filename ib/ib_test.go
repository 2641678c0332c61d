// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ib

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/topology"
	"github.com/tpsl/tpsl/internal/topology/topologytest"
)

func cpus(t testing.TB, list string) topology.Set {
	s, err := topology.ParseSet(list)
	require.NoError(t, err)
	return s
}

func nicsOf(t testing.TB, m topologytest.Machine) []NIC {
	sys := m.Tree()
	return ports(sys, topology.Read(sys, cpus(t, "0-255")), names(sys, class), allGIDs)
}

func TestPorts(t *testing.T) {
	nics := nicsOf(t, topologytest.TwoSockets)
	require.Len(t, nics, 2)
	assert.Equal(t, NIC{Name: "mlx5_1:1", RDMA: true, Device: "mlx5_1", Port: 1, Kind: "infiniband", State: "up", Speed: 200000, Addresses: []string{},
		PCI: "0000:a1:00.0", Node: 1, CPUs: "64-127,192-255"}, nics[1])

	nics = nicsOf(t, topologytest.Machine{Sockets: 1, Nodes: 1, L3: 1, Cores: 1, SMT: 1, Devices: []topologytest.Device{
		{Address: "0000:01:00.0", RDMA: "rocep1s0", Rate: "2.5 Gb/sec (1X SDR)", Down: true, Ethernet: true},
	}})
	assert.Equal(t, "ethernet", nics[0].Kind)
	assert.Equal(t, "down", nics[0].State)
	assert.Equal(t, 2500, nics[0].Speed)
}

// Two adapters, each near a socket.
func TestRailsOfTwoAdapters(t *testing.T) {
	nics := nicsOf(t, topologytest.TwoSockets)
	for ranks, want := range map[string]string{
		"0 64 1 65":         "mlx5_0:1 mlx5_1:1 mlx5_0:1 mlx5_1:1",
		"0 1 2":             "mlx5_0:1 mlx5_0:1 mlx5_0:1",
		"0-255 0-255 0-255": "mlx5_0:1 mlx5_1:1 mlx5_0:1", // not bound: in turn
		"64-127 0-63":       "mlx5_1:1 mlx5_0:1",
		"62-70":             "mlx5_1:1", // most of its CPUs
		"0-255 0 0-255":     "mlx5_0:1 mlx5_0:1 mlx5_1:1",
		"300 300":           "mlx5_0:1 mlx5_1:1",
	} {
		var sets []topology.Set
		for _, list := range strings.Fields(ranks) {
			sets = append(sets, cpus(t, list))
		}
		assert.Equal(t, want, strings.Join(Rails(nics, sets), " "), ranks)
	}
}

func TestRailsThatAreWorthIt(t *testing.T) {
	link := func(name, kind, state string, speed int, addresses ...string) NIC {
		return NIC{Name: name, Kind: kind, State: state, Speed: speed, Addresses: addresses, CPUs: "0"}
	}
	port := func(name, state string, speed int) NIC {
		return NIC{Name: name, RDMA: true, State: state, Speed: speed, CPUs: "0"}
	}
	eth0, eth1 := link("eth0", "ethernet", "up", 1000, "10.0.0.1/24"), link("eth1", "ethernet", "up", 1000, "10.1.0.1/24")
	for name, c := range map[string]struct {
		nics []NIC
		want string
	}{
		"two":                       {[]NIC{eth0, eth1}, "eth0 eth1 eth0"},
		"one":                       {[]NIC{eth0}, ""},
		"none":                      {nil, ""},
		"RDMA goes first":           {[]NIC{eth0, eth1, port("a:1", "up", 100), port("b:1", "up", 100)}, "a:1 b:1 a:1"},
		"one of RDMA":               {[]NIC{eth0, eth1, port("a:1", "up", 100), port("b:1", "down", 100)}, ""},
		"a slow one":                {[]NIC{eth0, eth1, link("eth2", "ethernet", "up", 100, "10.2.0.1/24")}, "eth0 eth1 eth0"},
		"a down one":                {[]NIC{eth0, link("eth2", "ethernet", "down", 1000, "10.2.0.1/24"), eth1}, "eth0 eth1 eth0"},
		"without address":           {[]NIC{eth0, link("eth2", "ethernet", "up", 1000), eth1}, "eth0 eth1 eth0"},
		"with a link's own address": {[]NIC{eth0, link("eth2", "ethernet", "up", 1000, "fe80::1/64"), eth1}, "eth0 eth1 eth0"},
		"a bridge":                  {[]NIC{eth0, link("docker0", "bridge", "up", 10000, "172.17.0.1/16"), eth1}, "eth0 eth1 eth0"},
		"loopback":                  {[]NIC{eth0, link("lo", "loopback", "up", 10000, "10.9.0.1/8"), eth1}, "eth0 eth1 eth0"},
		"IPv6":                      {[]NIC{eth0, link("eth2", "ethernet", "up", 1000, "2001:db8::1/64")}, "eth0 eth2 eth0"},
	} {
		assert.Equal(t, c.want, strings.Join(Rails(c.nics, []topology.Set{{0}, {0}, {0}}), " "), name)
	}
}

// The host that runs the test: lo is everywhere.
func TestList(t *testing.T) {
	nics, err := List(os.DirFS("/sys"), topology.Read(os.DirFS("/sys"), nil))
	require.NoError(t, err)
	found := false
	for _, nic := range nics {
		assert.NotEmpty(t, nic.Name)
		assert.NotEmpty(t, nic.Kind, nic.Name)
		assert.NotEmpty(t, nic.State, nic.Name)
		found = found || nic.Name == "lo" && nic.Kind == "loopback" && nic.Node == -1
	}
	assert.True(t, found)
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/internal/topology"
	"github.com/tpsl/tpsl/internal/topology/topologytest"
)

func TestDealGPUs(t *testing.T) {
	m := topology.Read(topologytest.TwoSockets.Tree(), cpus(t, "0-255"))
	for _, c := range []struct {
		perRank    int
		ranks, env string
		want       string
	}{
		{1, "0-255 0-255 0-255 0-255", "", "0 1 2 3"},
		{2, "0-255 0-255", "", "0,1 2,3"},
		{1, "64 0 65 1", "", "2 0 3 1"},
		{1, "0 1 2", "", "0 1 2"}, // the third one has no near one left
		{0, "0 1", "", "-1 -1"},
		{1, "64 0", "CUDA_VISIBLE_DEVICES=1,3", "3 1"},
		{1, "0 1", "CUDA_VISIBLE_DEVICES=GPU-5a,GPU-6b", "GPU-5a GPU-6b"},
	} {
		var ranks []topology.Set
		for _, list := range strings.Fields(c.ranks) {
			ranks = append(ranks, cpus(t, list))
		}
		sets, err := dealGPUs(c.perRank, ranks, strings.Fields(c.env), m)
		require.NoError(t, err)
		var got []string
		for _, g := range sets {
			settings := g.settings()
			got = append(got, strings.TrimPrefix(settings[0], "CUDA_VISIBLE_DEVICES="))
			assert.Equal(t, c.env == "", len(settings) == 2, "numbers follow the addresses where they are ours")
		}
		assert.Equal(t, c.want, strings.Join(got, " "), "%+v", c)
	}
	for env, ranks := range map[string]int{"": 5, "CUDA_VISIBLE_DEVICES=2": 2, "CUDA_VISIBLE_DEVICES=0,-1,1": 2, "CUDA_VISIBLE_DEVICES=": 1, "CUDA_VISIBLE_DEVICES=9": 1} {
		_, err := dealGPUs(1, make([]topology.Set, ranks), strings.Fields(env), m)
		assert.ErrorContains(t, err, "GPUs for", env)
	}
	none := topology.Read(topologytest.FourNodes.Tree(), cpus(t, "0"))
	sets, err := dealGPUs(0, make([]topology.Set, 2), nil, none)
	assert.NoError(t, err)
	assert.Nil(t, sets)
}

func TestVendorsOfGPUs(t *testing.T) {
	for vendor, want := range map[int]string{0x1002: "ROCR_VISIBLE_DEVICES=0", 0x8086: "ZE_AFFINITY_MASK=0"} {
		m := topologytest.Machine{Sockets: 1, Nodes: 1, L3: 1, Cores: 1, SMT: 1,
			Devices: []topologytest.Device{{Address: "0000:01:00.0", Class: 0x120000, Vendor: vendor}}}
		sets, err := dealGPUs(1, []topology.Set{{0}}, nil, topology.Read(m.Tree(), nil))
		require.NoError(t, err)
		assert.Equal(t, []string{want}, sets[0].settings())
	}
}

func TestDeviceSettings(t *testing.T) {
	gpu := func(ids ...string) gpuSet { return gpuSet{variable: "ROCR_VISIBLE_DEVICES", ids: ids} }
	host := plan.Host{Ranks: 3, Programs: []plan.Program{{}, {Env: []string{"UCX_NET_DEVICES=eth9"}}}}
	s := Shares{host: host, rails: []string{"mlx5_0:1", "mlx5_1:1", "mlx5_0:1"}, gpus: []gpuSet{gpu("0"), gpu("2"), gpu("1")}}
	pair, alone := plan.RankSet{Ranks: []int{0, 1}}, plan.RankSet{Ranks: []int{2}, Local: 2}
	assert.Equal(t, []string{"ROCR_VISIBLE_DEVICES=0,2",
		"TPSL_ENV=UCX_NET_DEVICES=mlx5_0:1 ROCR_VISIBLE_DEVICES=0;UCX_NET_DEVICES=mlx5_1:1 ROCR_VISIBLE_DEVICES=2"}, s.ProcessSettings(pair))
	assert.Equal(t, []string{"UCX_NET_DEVICES=mlx5_0:1", "ROCR_VISIBLE_DEVICES=1"}, s.ProcessSettings(alone))

	s.gpus = nil
	assert.Equal(t, []string{"TPSL_ENV=UCX_NET_DEVICES=mlx5_0:1;UCX_NET_DEVICES=mlx5_1:1"}, s.ProcessSettings(pair))
	pair.Program, alone.Program = 1, 1
	assert.Empty(t, s.ProcessSettings(pair), "the user's own stays")
	assert.Empty(t, s.ProcessSettings(alone))
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/ib"
	"github.com/tpsl/tpsl/internal/topology"
	"github.com/tpsl/tpsl/internal/topology/topologytest"
)

// Two sockets of two cores, and an adapter near each.
func TestRails(t *testing.T) {
	for _, name := range []string{"OMP_PROC_BIND", "GOMP_CPU_AFFINITY"} {
		t.Setenv(name, "") // puts it back
		os.Unsetenv(name)
	}
	m := topology.Read(topologytest.Machine{Sockets: 2, Nodes: 1, L3: 1, Cores: 2, SMT: 1}.Tree(), cpus(t, "0-3"))
	nics := []ib.NIC{
		{Name: "mlx5_0:1", RDMA: true, State: "up", Speed: 100000, CPUs: "0-1"},
		{Name: "mlx5_1:1", RDMA: true, State: "up", Speed: 100000, CPUs: "2-3"},
	}
	core, err := plan.ParseBinding("core")
	require.NoError(t, err)
	for name, c := range map[string]struct {
		ranks, perProcess int
		bind              plan.Binding
		cpus, nics        string
	}{
		"bound":                      {4, 1, core, "0 1 2 3", "mlx5_0:1 mlx5_0:1 mlx5_1:1 mlx5_1:1"},
		"not bound":                  {3, 1, plan.Binding{}, "0-3 0-3 0-3", "mlx5_0:1 mlx5_1:1 mlx5_0:1"},
		"ranks of a process":         {4, 2, plan.Binding{}, "0 1 2 3", "mlx5_0:1 mlx5_0:1 mlx5_1:1 mlx5_1:1"},
		"and one that has its own":   {3, 2, plan.Binding{}, "0 1 0-3", "mlx5_0:1 mlx5_0:1 mlx5_1:1"},
		"more ranks than processors": {5, 5, plan.Binding{}, "0-3 0-3 0-3 0-3 0-3", "mlx5_0:1 mlx5_1:1 mlx5_0:1 mlx5_1:1 mlx5_0:1"},
	} {
		sets, rails, err := Rails(m, nics, c.ranks, c.perProcess, c.bind)
		require.NoError(t, err, name)
		var have []string
		for _, set := range sets {
			have = append(have, set.String())
		}
		assert.Equal(t, c.cpus, strings.Join(have, " "), name)
		assert.Equal(t, c.nics, strings.Join(rails, " "), name)
	}
	_, rails, err := Rails(m, nics[:1], 2, 1, core)
	assert.NoError(t, err)
	assert.Nil(t, rails, "no choice")
	_, _, err = Rails(m, nics, 1, 1, plan.Binding{Object: "gpu", Count: 1})
	assert.Error(t, err)
}

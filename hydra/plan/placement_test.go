// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/topology"
	"github.com/tpsl/tpsl/internal/topology/topologytest"
)

// What a machine decides about a host's ranks: the sets, the CPUs of each local rank, and whether processes are bound.
func TestPlace(t *testing.T) {
	small := topology.Read(topologytest.Machine{Sockets: 2, Nodes: 1, L3: 1, Cores: 2, SMT: 2}.Tree(), cpus(t, "0-7")) // cores 0,4 1,5 2,6 3,7
	nodes := topology.Read(topologytest.FourNodes.Tree(), cpus(t, "0-31"))                                             // four nodes of 8 cores
	for name, c := range map[string]struct {
		m       *topology.Machine
		sizes   []int // of the sets
		private []int // those whose ranks are processes of their own
		object  string
		env     string
		bind    string
		want    string
	}{
		"ranks in processes of their own are free": {m: small, sizes: []int{1, 1}, want: "0: - 1: -"},
		"those that share one are pinned":          {m: small, sizes: []int{3, 1}, want: "0-2: 0 1 2 3: -"},
		"each by its own place on the host":        {m: small, sizes: []int{1, 2}, want: "0: - 1-2: 1 2"},
		"unless OpenMP is told where":              {m: small, sizes: []int{2}, env: "OMP_PROC_BIND=close", want: "0-1: - -"},
		"unless libgomp is":                        {m: small, sizes: []int{2}, env: "GOMP_CPU_AFFINITY=0", want: "0-1: - -"},
		"unless there are too few CPUs":            {m: small, sizes: []int{9}, want: "0-8: - - - - - - - - -"},
		"unless the user wants none":               {m: small, sizes: []int{2}, bind: "none", want: "0-1: - -"},
		"hardware threads when cores are used up":  {m: small, sizes: []int{6}, want: "0-5: 0 1 2 3 4 5"},
		"bound":                     {m: small, sizes: []int{2, 1}, env: "OMP_PROC_BIND=close", bind: "core", want: "0-1: 0,4 1,5 2: 2,6, bound"},
		"a process for each socket": {m: small, sizes: []int{4}, object: "socket", bind: "core", want: "0-1: 0,4 1,5 2-3: 2,6 3,7, bound"},
		"a process for the host":    {m: small, sizes: []int{3}, object: "node", want: "0-2: 0 1 2"},

		"a private rank has its part of the CPUs": {m: nodes, sizes: []int{4, 4}, private: []int{0, 1},
			want: "0-3: 0-3 4-7 8-11 12-15 4-7: 16-19 20-23 24-27 28-31"},
		"with both threads of its cores":           {m: small, sizes: []int{2}, private: []int{0}, want: "0-1: 0-1,4-5 2-3,6-7"},
		"and OpenMP binds within it":               {m: small, sizes: []int{2}, private: []int{0}, env: "OMP_PROC_BIND=close OMP_PLACES=cores", want: "0-1: 0-1,4-5 2-3,6-7"},
		"unless OpenMP's places are CPUs":          {m: small, sizes: []int{2}, private: []int{0}, env: "OMP_PROC_BIND=close OMP_PLACES={0}", want: "0-1: - -"},
		"unless libgomp's are, of a private rank":  {m: small, sizes: []int{2}, private: []int{0}, env: "GOMP_CPU_AFFINITY=0", want: "0-1: - -"},
		"as wide as flat neighbours leave it":      {m: nodes, sizes: []int{1, 3}, private: []int{1}, want: "0: - 1-3: 8-15 16-23 24-31"},
		"one CPU beside ranks that are threads":    {m: nodes, sizes: []int{2, 2}, private: []int{1}, want: "0-1: 0 1 2-3: 2 3"},
		"bound as the user wants":                  {m: nodes, sizes: []int{2}, private: []int{0}, bind: "numa", want: "0-1: 0-7 8-15, bound"},
		"free where private ranks exceed the CPUs": {m: small, sizes: []int{9}, private: []int{0}, want: "0-8: - - - - - - - - -"},
	} {
		host := Host{Name: "h"}
		if c.bind != "" {
			host.Hardware.Bind = binding(t, c.bind)
		}
		var private []bool
		for i, size := range c.sizes {
			host.Programs = append(host.Programs, Program{PerProcess: 1, PerObject: c.object, Env: strings.Fields(c.env)})
			private = append(private, slices.Contains(c.private, i))
			set := RankSet{Local: host.Ranks, Program: i}
			for range size {
				set.Ranks = append(set.Ranks, host.Ranks)
				host.Ranks++
			}
			host.Sets = append(host.Sets, set)
		}
		before := fmt.Sprint(host)
		require.NoError(t, host.CheckCuts(), name)
		placement, err := host.Place(c.m)
		require.NoError(t, err, name)
		assert.Equal(t, c.want, placed(host.Pin(placement, private, c.m)), name)
		assert.Equal(t, before, fmt.Sprint(host), "the plan is as it was")
	}
}

// placed writes a placement: the ranks of each set and their CPUs, where a dash stands for all CPUs.
func placed(p Placement) string {
	var parts []string
	for _, set := range p.Sets {
		parts = append(parts, set.Label()+":")
		for i := range set.Ranks {
			own := "-"
			if cpus := p.CPUsOf(set); cpus != nil {
				own = cpus[i].String()
			}
			parts = append(parts, own)
		}
	}
	text := strings.Join(parts, " ")
	if p.Bound {
		text += ", bound"
	}
	return text
}

// A process has the CPUs of all its ranks. Ranks without CPUs of their own are near all CPUs.
func TestPlacementCPUs(t *testing.T) {
	pair, alone := RankSet{Ranks: []int{4, 5}}, RankSet{Ranks: []int{6}, Local: 2}
	m := &topology.Machine{CPUs: topology.Set{0, 1, 2, 3}}
	bound := Placement{Sets: []RankSet{pair, alone}, CPUs: []topology.Set{{0, 2}, {1, 2}, {3}}, Bound: true}
	assert.Equal(t, topology.Set{0, 1, 2}, bound.ProcessCPUs(pair))
	assert.Equal(t, topology.Set{3}, bound.ProcessCPUs(alone))
	assert.Equal(t, bound.CPUs, bound.Near(3, m))
	pinned := Placement{Sets: bound.Sets, CPUs: []topology.Set{{0}, {1}, nil}}
	assert.Nil(t, pinned.ProcessCPUs(pair))
	assert.Equal(t, []topology.Set{{0}, {1}}, pinned.CPUsOf(pair))
	assert.Nil(t, pinned.CPUsOf(alone))
	assert.Equal(t, []topology.Set{{0}, {1}, m.CPUs}, pinned.Near(3, m))
	free := Placement{Sets: bound.Sets}
	assert.Nil(t, free.CPUsOf(pair))
	assert.Equal(t, []topology.Set{m.CPUs, m.CPUs}, free.Near(2, m))
	assert.Equal(t, []int{4, 5}, free.Together(5))
	assert.Nil(t, free.Together(9))
}

func TestCheckCuts(t *testing.T) {
	host := Host{Name: "h", Programs: []Program{{}, {PerObject: "numa"}}}
	assert.EqualError(t, host.CheckCuts(), "-rpp numa cuts by the ranks' binding, but -bind-to none leaves those on h unbound; use -bind-to core, or -rpp K")
	host.Programs[1].PerObject = "node"
	assert.NoError(t, host.CheckCuts())
}

// A host completes copies of its programs. The programs of the plan do not change.
func TestProgramsAs(t *testing.T) {
	host := Host{Programs: []Program{{Env: []string{"A=1"}, HostEnv: []string{"SLURM_*"}, PerProcess: 1}, {PerProcess: 8}}}
	p := Placement{Sets: []RankSet{{Ranks: []int{0, 1, 2}}, {Ranks: []int{3}, Local: 3}, {Program: 1, Ranks: []int{4, 5}, Local: 4}}}
	programs := host.ProgramsAs(p, []string{"SLURM_ID=3", "B=2"})
	assert.Equal(t, []string{"SLURM_ID=3", "A=1"}, programs[0].Env)
	assert.Equal(t, []int{3, 8}, []int{programs[0].PerProcess, programs[1].PerProcess})
	assert.Equal(t, []string{"A=1"}, host.Programs[0].Env)
	assert.Equal(t, 1, host.Programs[0].PerProcess)
}

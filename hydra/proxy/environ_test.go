// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/hydra/proxy/executable"
	"github.com/tpsl/tpsl/hydra/proxy/hardware"
	"github.com/tpsl/tpsl/internal/topology"
	"github.com/tpsl/tpsl/pmi"
)

// A process gets the variables that tell it which ranks it has, and what they have.
func TestSettings(t *testing.T) {
	pair, alone := plan.RankSet{Ranks: []int{4, 5}}, plan.RankSet{Ranks: []int{6}, Local: 2}
	cpus := []topology.Set{{0}, {1, 3}, {2}}
	for name, c := range map[string]struct {
		set    plan.RankSet
		change func(*proxy, *hardware.Shares)
		want   string
	}{
		"one rank": {alone, nil, "MPI_LOCALRANKID=2 PMI_FD=3 PMI_RANK=6"},
		"threads":  {pair, nil, "MPI_LOCALRANKID=0,1 OMP_NUM_THREADS=2 PMI_FD=3,4 PMI_RANK=4,5 TPSL_CONTROL_FD=5"},
		"threads whose number the user has set": {pair, func(p *proxy, _ *hardware.Shares) { p.programs[0].Env = []string{"OMP_NUM_THREADS=9"} },
			"MPI_LOCALRANKID=0,1 PMI_FD=3,4 PMI_RANK=4,5 TPSL_CONTROL_FD=5"},
		"bound": {pair, func(_ *proxy, s *hardware.Shares) { s.CPUs, s.Bound = cpus, true },
			"HYDRA_USER_PROVIDED_BINDING=1 MPI_LOCALRANKID=0,1 OMP_NUM_THREADS=2 PMI_FD=3,4 PMI_RANK=4,5 TPSL_CONTROL_FD=5 TPSL_CPUS=0;1,3"},
		"bound, one rank": {alone, func(_ *proxy, s *hardware.Shares) { s.CPUs, s.Bound = cpus, true },
			"HYDRA_USER_PROVIDED_BINDING=1 MPI_LOCALRANKID=2 PMI_FD=3 PMI_RANK=6"},
		"of a host with a name": {alone, func(p *proxy, _ *hardware.Shares) { p.hostName = "n1" },
			"MPIR_CVAR_CH3_INTERFACE_HOSTNAME=n1 MPI_LOCALRANKID=2 PMI_FD=3 PMI_HOSTNAME=n1 PMI_RANK=6"},
		"spawned": {alone, func(p *proxy, _ *hardware.Shares) { p.host.Group = 2 },
			"MPI_LOCALRANKID=2 PMI_FD=3 PMI_RANK=6 PMI_SPAWNED=1"},
	} {
		p := &proxy{programs: []plan.Program{{PerProcess: 2, Args: []string{"prog"}}}}
		p.host = plan.Host{Ranks: 3, World: pmi.World{Size: 7}, Programs: slices.Clone(p.programs), Sets: []plan.RankSet{pair, alone}}
		shares := hardware.Given(p.host, nil)
		shares.Placement = p.host.AsPlanned()
		if c.change != nil {
			c.change(p, &shares)
		}
		common := []string{"GFORTRAN_UNBUFFERED_PRECONNECTED=y", "MPI_LOCALNRANKS=3", "PMI_SIZE=7"}
		if len(c.set.Ranks) == 1 {
			p.programs[0].PerProcess = 1
		}
		assert.ElementsMatch(t, append(common, strings.Fields(c.want)...), p.startOf(c.set, executable.Executable{}, shares).own, name)
	}
}

// Ranks that connect to a port inherit no session.
func TestSettingsOfPort(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	set := plan.RankSet{Ranks: []int{6}}
	p := &proxy{port: &port{listener: listener}, programs: []plan.Program{{PerProcess: 1}}}
	p.host = plan.Host{Ranks: 1, Programs: p.programs, Sets: []plan.RankSet{set}}
	shares := hardware.Given(p.host, nil)
	shares.Placement = p.host.AsPlanned()
	s := p.startOf(set, executable.Executable{}, shares)
	assert.ElementsMatch(t, []string{"GFORTRAN_UNBUFFERED_PRECONNECTED=y", "MPI_LOCALNRANKS=1", "MPI_LOCALRANKID=0",
		"PMI_PORT=" + listener.Addr().String(), "PMI_ID=6"}, s.own)
	assert.False(t, s.layout.Sessions)
}

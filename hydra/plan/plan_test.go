// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/hydra/options"
	"github.com/tpsl/tpsl/hydra/plan"
)

var testSite = plan.Site{Host: "h", Dir: "/d", KVSName: "k", Environ: []string{
	"A=1", "HOME=/home/u", "PMI_RANK=7", "PMI_FD=9", "PMI_DEBUG=1", "PMIX_RANK=1", "PRTE_LAUNCHED=1", "HYDI_CONTROL_FD=7",
	"OMPI_COMM_WORLD_RANK=3", "OMPI_MCA_btl=tcp", "TPSL_CPUS=0", "TPSL_CONTROL_FD=4", "TPSL_STDIO=x", "TPSL_VERIFY=1",
	"MPI_LOCALRANKID=0",
}}

// planOf plans a command line.
func planOf(t *testing.T, line string, s plan.Site) plan.Plan {
	t.Helper()
	asked, err := options.Parse(strings.Fields(line), func(string) string { return "" })
	require.NoError(t, err, line)
	made, err := plan.New(asked.Request, s)
	require.NoError(t, err)
	return made
}

func set(program, local int, ranks ...int) plan.RankSet {
	return plan.RankSet{Program: program, Ranks: ranks, Local: local}
}

func TestPlanCutsSets(t *testing.T) {
	for _, tt := range []struct {
		line, mapping string
		sets          []plan.RankSet
	}{
		{"-n 3 a", "(vector,(0,1,3))", []plan.RankSet{set(0, 0, 0), set(0, 1, 1), set(0, 2, 2)}},
		{"-n 5 -rpp 2 a", "(vector,(0,1,5))", []plan.RankSet{set(0, 0, 0, 1), set(0, 2, 2, 3), set(0, 4, 4)}},
		{"-n 2 -rpp 8 a", "(vector,(0,1,2))", []plan.RankSet{set(0, 0, 0, 1)}},
		{"-n 3 -rpp 2 a : -n 3 -rpp 2 b", "(vector,(0,1,6))",
			[]plan.RankSet{set(0, 0, 0, 1), set(0, 2, 2), set(1, 3, 3, 4), set(1, 5, 5)}},
	} {
		made := planOf(t, tt.line, testSite)
		require.Len(t, made.Hosts, 1)
		assert.Equal(t, tt.sets, made.Hosts[0].Sets, tt.line)
		assert.Equal(t, tt.mapping, made.Hosts[0].World.Mapping)
		assert.Equal(t, made.Size, made.Hosts[0].World.Size)
		assert.Equal(t, made, planOf(t, tt.line, testSite), "deterministic")
	}
}

func TestPlanEnvironment(t *testing.T) {
	made := planOf(t, "-genv A 2 -genv B 2 -env B=3 -wdir sub a : b", testSite)
	programs := made.Hosts[0].Programs
	assert.Equal(t, []string{"A=2", "HOME=/home/u", "PMI_DEBUG=1", "OMPI_MCA_btl=tcp", "TPSL_VERIFY=1", "B=3"}, programs[0].Env)
	assert.Equal(t, "/d/sub", programs[0].Wdir)
	assert.Contains(t, programs[1].Env, "B=2")
	assert.Equal(t, "/d", programs[1].Wdir)

	made = planOf(t, "-genvlist TPSL_VERIFY -genv B 2 a", testSite)
	assert.Equal(t, []string{"HOME=/home/u", "TPSL_VERIFY=1", "B=2"}, made.Hosts[0].Programs[0].Env)
}

// The number of attempts is the same in the whole job. If one rank made another number of attempts, the other ranks would wait for it.
func TestNoSymmetricWindowsInOneSpace(t *testing.T) {
	for line, want := range map[string][]string{
		"a : b":         {"", ""},
		"a : -rpp 2 b":  {"0", "0"},
		"-rpp socket a": {"0"},
		"-rpp 2 -genv MPIR_CVAR_SHM_SYMHEAP_RETRY 7 a : b": {"7", "7"},
	} {
		var got []string
		for _, program := range planOf(t, line, testSite).Hosts[0].Programs {
			value, _ := plan.Getenv(program.Env, "MPIR_CVAR_SHM_SYMHEAP_RETRY")
			got = append(got, value)
		}
		assert.Equal(t, want, got, line)
	}
}

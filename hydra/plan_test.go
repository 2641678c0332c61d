// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var testSetting = Setting{Host: "h", Dir: "/d", KVSName: "k", Environ: []string{
	"A=1", "HOME=/home/u", "PMI_RANK=7", "PMI_FD=9", "PMI_DEBUG=1", "PMIX_RANK=1", "PRTE_LAUNCHED=1", "HYDI_CONTROL_FD=7",
	"OMPI_COMM_WORLD_RANK=3", "OMPI_MCA_btl=tcp", "TPSL_CPUS=0", "TPSL_CONTROL_FD=4", "TPSL_STDIO=x", "TPSL_VERIFY=1",
	"MPI_LOCALRANKID=0",
}}

// planOf plans a command line.
func planOf(t *testing.T, line string, s Setting) Plan {
	t.Helper()
	plan, err := NewPlan(parse(t, line), s)
	require.NoError(t, err)
	return plan
}

func TestPlanCutsSets(t *testing.T) {
	for _, tt := range []struct {
		line, mapping string
		sets          []RankSet
	}{
		{"-n 3 a", "(vector,(0,1,3))", []RankSet{{0, []int{0}, 0}, {0, []int{1}, 1}, {0, []int{2}, 2}}},
		{"-n 5 -rpp 2 a", "(vector,(0,1,5))", []RankSet{{0, []int{0, 1}, 0}, {0, []int{2, 3}, 2}, {0, []int{4}, 4}}},
		{"-n 2 -rpp 8 a", "(vector,(0,1,2))", []RankSet{{0, []int{0, 1}, 0}}},
		{"-n 3 -rpp 2 a : -n 3 -rpp 2 b", "(vector,(0,1,6))",
			[]RankSet{{0, []int{0, 1}, 0}, {0, []int{2}, 2}, {1, []int{3, 4}, 3}, {1, []int{5}, 5}}},
	} {
		plan := planOf(t, tt.line, testSetting)
		require.Len(t, plan.Hosts, 1)
		assert.Equal(t, tt.sets, plan.Hosts[0].Sets, tt.line)
		assert.Equal(t, tt.mapping, plan.Hosts[0].World.Mapping)
		assert.Equal(t, plan.Size, plan.Hosts[0].World.Size)
		assert.Equal(t, plan, planOf(t, tt.line, testSetting), "deterministic")
	}
}

func TestPlanEnvironment(t *testing.T) {
	plan := planOf(t, "-genv A 2 -genv B 2 -env B=3 -wdir sub a : b", testSetting)
	programs := plan.Hosts[0].Programs
	assert.Equal(t, []string{"A=2", "HOME=/home/u", "PMI_DEBUG=1", "OMPI_MCA_btl=tcp", "TPSL_VERIFY=1", "B=3"}, programs[0].Env)
	assert.Equal(t, "/d/sub", programs[0].Wdir)
	assert.Contains(t, programs[1].Env, "B=2")
	assert.Equal(t, "/d", programs[1].Wdir)

	plan = planOf(t, "-genvlist TPSL_VERIFY -genv B 2 a", testSetting)
	assert.Equal(t, []string{"HOME=/home/u", "TPSL_VERIFY=1", "B=2"}, plan.Hosts[0].Programs[0].Env)
}

// One rank with another number of attempts than the rest would leave them waiting: the number is the job's.
func TestNoSymmetricWindowsInOneSpace(t *testing.T) {
	for line, want := range map[string][]string{
		"a : b":         {"", ""},
		"a : -rpp 2 b":  {"0", "0"},
		"-rpp socket a": {"0"},
		"-rpp 2 -genv MPIR_CVAR_SHM_SYMHEAP_RETRY 7 a : b": {"7", "7"},
	} {
		var got []string
		for _, program := range planOf(t, line, testSetting).Hosts[0].Programs {
			value, _ := Getenv(program.Env, "MPIR_CVAR_SHM_SYMHEAP_RETRY")
			got = append(got, value)
		}
		assert.Equal(t, want, got, line)
	}
}

func TestRedact(t *testing.T) {
	shown := redact([]string{"A=1", "GITHUB_TOKEN=abc", "http_proxy=http://user:pw@host/", "db_password=x"})
	assert.Equal(t, []string{"A=1", "GITHUB_TOKEN=...", "http_proxy=...", "db_password=..."}, shown)
}

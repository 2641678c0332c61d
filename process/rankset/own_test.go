// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rankset

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWanted(t *testing.T) {
	for _, c := range []struct {
		what  string
		env   []string
		team  int
		ranks int
		own   string
		err   string
	}{
		{what: "nothing says how many"},
		{what: "the variable", env: []string{Variable, "8"}, ranks: 8, own: Variable},
		{what: "one rank", env: []string{Variable, "1"}, ranks: 1, own: Variable},
		{what: "the variable before the team", env: []string{Variable, "8"}, team: 3, ranks: 8, own: Variable},
		{what: "a team", team: 3, ranks: 3, own: Team},
		{what: "a team of one"},
		{what: "a team under a launcher", env: []string{"PMI_FD", "3"}, team: 3},
		{what: "no number", env: []string{Variable, "8 ranks"}, err: `TPSL_RANKS="8 ranks": want a whole number of ranks, 1 or more`},
		{what: "no rank", env: []string{Variable, "0"}, err: `TPSL_RANKS="0": want a whole number of ranks, 1 or more`},
		{what: "Hydra", env: []string{Variable, "8", "PMI_FD", "3"}, err: "a launcher has started this one"},
		{what: "a port", env: []string{Variable, "8", "PMI_ID", "0"}, err: "a launcher has started this one"},
		{what: "PMIx", env: []string{Variable, "8", "PMIX_RANK", "0"}, err: "a launcher has started this one"},
	} {
		ranks, own, err := Wanted(environ(c.env...), c.team)
		if c.err != "" {
			assert.ErrorContains(t, err, c.err, c.what)
			continue
		}
		assert.NoError(t, err, c.what)
		assert.Equal(t, c.ranks, ranks, c.what)
		assert.Equal(t, c.own, own, c.what)
	}
}

// The ranks find what a launcher would have told them, in place of what one has told the process.
func TestOwnSet(t *testing.T) {
	s := New(Call, []int{7, 9})
	assert.Equal(t, []int{0, 1}, s.Ranks)
	assert.False(t, s.Peers)
	env := s.Environment(1, environ("PMI_SPAWNED", "1"))
	assert.Subset(t, env, []string{"PMI_FD=9", "PMI_RANK=1", "PMI_SIZE=2", "MPI_LOCALRANKID=1", "MPI_LOCALNRANKS=2", "PMI_SPAWNED=0", "MPIR_CVAR_SHM_SYMHEAP_RETRY=0", "UCX_RNDV_THRESH=8192"})
	env = New(Variable, []int{7}).Environment(0, environ("MPIR_CVAR_SHM_SYMHEAP_RETRY", "5"))
	assert.NotContains(t, env, "PMI_SPAWNED=0")
	assert.NotContains(t, env, "MPIR_CVAR_SHM_SYMHEAP_RETRY=0")
}

func TestWordsOfASet(t *testing.T) {
	for own, want := range map[string][2]string{
		"":       {"-rpp", "mpiexec -rpp "},
		Variable: {"TPSL_RANKS", "TPSL_RANKS="},
		Call:     {"number of ranks", "TPSL_Run of "},
		Team:     {"OpenMP team", "OpenMP team of "},
	} {
		assert.Equal(t, want, [2]string{Setting(own), (&Set{Own: own}).Start()})
	}
}

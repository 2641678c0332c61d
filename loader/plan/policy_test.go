// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/loader/plan"
)

// policyFile writes a user's policy.
func policyFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// A user's rules come before the default rules, and the first rule that matches decides.
// Each rule tells where it comes from.
func TestUsersPolicy(t *testing.T) {
	file := policyFile(t, "# mine\nlibz.so.* private # why\nlibucp.so.0 once\nlibucp* shared\n\n[program]\nlibstate.so.? private state_open\nlibhdf5_mpich* shared\n[opened]\nlibm?ne.so shared\n")
	p, err := plan.ReadPolicies(file, "libown*=own_open,libhdf5_mpich_hl*")
	require.NoError(t, err)
	for name, want := range map[string]struct {
		placement plan.Placement
		where     string
	}{
		"libz.so.1":   {plan.Private, file + ":2"},
		"libucp.so.0": {plan.Once, file + ":3"},
		"libucp.so.1": {plan.Shared, file + ":4"},
		"libmine.so":  {plan.Shared, file + ":10"},
	} {
		r := p.Opened.Rule(name)
		assert.Equal(t, want.placement, r.Placement, name)
		assert.Equal(t, want.where, r.Where, name)
	}
	assert.Equal(t, plan.Private, p.Opened.Place("libother.so.1"))
	assert.Regexp(t, `^policy.default:\d+$`, p.Opened.Rule("libucm.so.0").Where)

	state, own := p.Program.Rule("libstate.so.2"), p.Program.Rule("libown.so")
	assert.Equal(t, plan.Rule{Pattern: "libstate.so.?", Placement: plan.Private, Prepare: "state_open", Where: file + ":7"}, state)
	assert.Equal(t, plan.Rule{Pattern: "libown*", Placement: plan.Private, Prepare: "own_open", Where: "TPSL_PRIVATE"}, own)
	assert.Equal(t, plan.Private, p.Program.Place("libhdf5_mpich_hl.so.100"), "rules of TPSL_PRIVATE come before those of TPSL_POLICY")
	assert.Equal(t, plan.Shared, p.Program.Place("libhdf5_mpich.so.103"))
	assert.Equal(t, plan.Shared, p.Program.Place("libmine2.so"))
}

// No policy makes the C library private.
func TestTheCLibraryStaysShared(t *testing.T) {
	p, err := plan.ReadPolicies(policyFile(t, "* private\nlibc.so.6 once\n[program]\n* private\n"), "libc.so.6,*")
	require.NoError(t, err)
	for _, name := range []string{"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "libpthread.so.0"} {
		assert.Equal(t, plan.Shared, p.Opened.Place(name), name)
		assert.Equal(t, plan.Shared, p.Program.Place(name), name)
	}
	assert.Equal(t, plan.Private, p.Opened.Place("libstdc++.so.6"))
	assert.Equal(t, plan.Private, p.Program.Place("libstdc++.so.6"))
}

func TestPolicyErrors(t *testing.T) {
	for text, says := range map[string]string{
		"a.so":                          `:1: want "pattern placement [function]" or one of [opened], [program], [private], have "a.so"`,
		"\n\na.so everyone":             `:3: placement "everyone" is none of private, once, shared`,
		"[ shared":                      `:1: pattern "["`,
		"[program]\na.so private a b":   `:2: want "pattern placement`,
		"# x\n[always]\nlibc* private":  `:2: want "pattern placement`,
		"a.so private f":                `:1: only a private library under [program] has a function to prepare it, have "f"`,
		"[program]\nb.so shared b_open": `:2: only a private library under [program]`,
	} {
		file := policyFile(t, text)
		_, err := plan.ReadPolicies(file, "")
		require.Error(t, err, text)
		assert.ErrorContains(t, err, "TPSL_POLICY: "+file+says)
		assert.NotContains(t, err.Error(), "\n")
	}
	_, err := plan.ReadPolicies("/no/such/policy", "")
	require.ErrorContains(t, err, "TPSL_POLICY: open /no/such/policy: no such file")
	_, err = plan.ReadPolicies("", "good*,[")
	require.ErrorContains(t, err, `TPSL_PRIVATE=good*,[: pattern "["`)
}

func TestDefaultPolicyPlacesMPICH(t *testing.T) {
	p := plan.DefaultPolicies().Opened
	for name, want := range map[string]plan.Placement{
		"libmpich.so.12": plan.Private, "libmpi.so.12": plan.Private, "libucp.so.0": plan.Private, "libuct_cma.so.0": plan.Private,
		"libhwloc.so.15": plan.Private, "libucm.so.0": plan.Once, "libc.so.6": plan.Shared, "ld-linux-x86-64.so.2": plan.Shared,
		"libgomp.so.1": plan.Shared, "libgcc_s.so.1": plan.Shared, "libfabric.so.1": plan.Private, "libpsm2.so.2": plan.Private,
		"libibverbs.so.1": plan.Shared, "libefa.so.1": plan.Shared, "libcuda.so.1": plan.Shared, "libatomic.so.1": plan.Shared,
		"libtcmalloc_minimal.so.4": plan.Shared,
	} {
		assert.Equal(t, want, p.Place(name), name)
	}
}

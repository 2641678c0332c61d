// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/loader/plan"
)

// A library that a rule makes private by its file's name, and another rule shared by its
// SONAME, would be opened as ld.so's copy: that is told.
func TestDivertByFileAndSoname(t *testing.T) {
	dir := t.TempDir()
	user := fixture(t, dir, "libuser.so", "int count(void); int use(void) { return count(); }", "-Wl,-z,undefs")
	for _, c := range []struct{ soname, err string }{
		{"libstate.so.1", ""},
		{"libz.so.1", "libstate.so: TPSL_PRIVATE makes it private by its file's name libstate.so, but its SONAME is libz.so.1, which is shared; let the pattern match both"},
	} {
		t.Run(c.soname, func(t *testing.T) {
			state := fixture(t, dir, "libstate.so", "int count(void) { return 1; }", "-Wl,-soname,"+c.soname)
			policies, err := plan.ReadPolicies("", "libstate.so*")
			require.NoError(t, err)
			d, err := plan.Divert([]plan.Loaded{{Path: user}, {Path: state}}, policies.Program)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Len(t, d.References, 1)
			assert.Equal(t, "count", d.Functions[0].Name)
		})
	}
}

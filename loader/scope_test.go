// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/internal/testsupport/dlcases"
	"github.com/tpsl/tpsl/loader"
	"github.com/tpsl/tpsl/loader/plan"
)

// What an instance opens and looks up is what a process of ld.so's finds, case by case.
func TestScopes(t *testing.T) {
	for _, c := range dlcases.Cases {
		t.Run(c.Name, func(t *testing.T) {
			folder := t.TempDir()
			program, driver := c.Build(t, folder)
			t.Chdir(folder)
			want, stderr, code := testsupport.Run(t, time.Minute, nil, program, c.Script)
			require.Zero(t, code, stderr)
			i := open(t, driver)
			buffer, text := cBuffer(t, 65536)
			_, err := i.Call("run", cString(t, c.Script), buffer, 65536)
			require.NoError(t, err)
			assert.Equal(t, want, text())
			i.Close()
		})
	}
}

// It makes no difference to a lookup whether an object is a copy, placed once or ld.so's.
func TestScopesOfAllPlacements(t *testing.T) {
	c := dlcases.Case{
		Libraries: []dlcases.Library{
			{Name: "placed_shared", Defines: []string{"f", "g"}, Changed: []string{"c"}},
			{Name: "placed_once", Defines: []string{"g", "h"}, Needs: []string{"placed_shared"}},
			{Name: "x", Needs: []string{"placed_shared", "placed_once"}, Refers: []string{"f", "g", "h"}},
			{Name: "y", Needs: []string{"placed_once", "placed_shared"}, Refers: []string{"g"}},
			{Name: "z", Refers: []string{"g"}},
			{Name: "w", Refers: []string{"c"}},
		},
		Script: "open x libx.so\nsees x x f\nsees x x g\nsees x x h\nsym x g\nsym x h\nopen y liby.so\nsees y y g\nsym y g\n" +
			"from x x default g\nopen z libz.so\nsees z z g\nopen x libx.so global\nsym default g\nopen w libw.so\nsees w w c\nsym x c\nopen s libplaced_shared.so\nsym s g\n",
	}
	folder := t.TempDir()
	program, driver := c.Build(t, folder)
	t.Chdir(folder)
	want, stderr, code := testsupport.Run(t, time.Minute, nil, program, c.Script)
	require.Zero(t, code, stderr)
	loader.Configure(loader.Config{Policy: append(plan.Policy{
		{Pattern: "libplaced_shared.so", Placement: plan.Shared}, {Pattern: "libplaced_once.so", Placement: plan.Once},
	}, plan.DefaultPolicies().Opened...)})
	defer loader.Configure(loader.Config{})
	i := open(t, driver)
	buffer, text := cBuffer(t, 65536)
	_, err := i.Call("run", cString(t, c.Script), buffer, 65536)
	require.NoError(t, err)
	assert.Equal(t, want, text())
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// The C files of the runtime, in all its folders, call each other in one direction.
func TestNoCircles(t *testing.T) {
	root := testsupport.Root(t)
	files := map[string]string{}
	for folder := range mayInclude {
		names, err := filepath.Glob(filepath.Join(root, folder, "*.c"))
		require.NoError(t, err)
		require.NotEmpty(t, names)
		for _, name := range names {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			relative, err := filepath.Rel(root, name)
			require.NoError(t, err)
			files[relative] = string(text)
		}
	}
	assert.Empty(t, checkCircles(files))
}

func TestCheckCircles(t *testing.T) {
	const a, b, c = "int tpsl_a(int n)\n{\n", "const T(x) *tpsl_b(void)\n{\n", "void *tpsl_c(int x,\n        int y)\n{\n"
	cases := map[string]struct {
		files map[string]string
		want  []string
	}{
		"none":             {map[string]string{"a.c": a + "tpsl_b();}", "b.c": b + "}"}, nil},
		"two":              {map[string]string{"a.c": a + "tpsl_b();}", "b.c": b + "tpsl_a(1);}"}, []string{"a.c -> b.c -> a.c"}},
		"three":            {map[string]string{"a.c": a + "tpsl_b();}", "b.c": b + "tpsl_c(1, 2);}", "c.c": c + "tpsl_a(1);}"}, []string{"a.c -> b.c -> c.c -> a.c"}},
		"beside the way":   {map[string]string{"a.c": a + "tpsl_b();}", "b.c": b + "tpsl_c(1, 2);}", "c.c": c + "tpsl_b();}"}, []string{"b.c -> c.c -> b.c"}},
		"an address":       {map[string]string{"a.c": a + "tpsl_b();}", "b.c": b + "}\nvoid *table[] = {tpsl_a};"}, nil},
		"words":            {map[string]string{"a.c": a + "tpsl_b();}", "b.c": b + "/* tpsl_a(1) */ s = \"tpsl_a(1)\"; // tpsl_a(1)\n}"}, nil},
		"two of a name":    {map[string]string{"x/a.c": a + "tpsl_b();}", "x/b.c": b + "tpsl_a(1);}", "y/a.c": a + "}"}, []string{"x/a.c -> x/b.c -> x/a.c"}},
		"its own":          {map[string]string{"a.c": a + "tpsl_a(1);}"}, nil},
		"static":           {map[string]string{"a.c": a + "tpsl_b();}", "b.c": b + "tpsl_a(1);}\nstatic int tpsl_a(int n)\n{\n}"}, []string{"a.c -> b.c -> a.c"}},
		"what a macro has": {map[string]string{"gate.c": "int tpsl_gate_enter(void)\n{\ntpsl_a(1);}", "a.c": a + "TPSL_INSIDE;\n}"}, []string{"a.c -> gate.c -> a.c"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, checkCircles(c.files))
		})
	}
}

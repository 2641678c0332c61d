// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

func TestModuleOrder(t *testing.T) {
	needs := func(name string) ([]string, error) {
		switch name {
		case "top":
			return []string{"left", "right"}, nil
		case "left", "right":
			return []string{"bottom"}, nil
		case "knot":
			return []string{"tie"}, nil
		case "tie":
			return []string{"knot"}, nil
		case "gone":
			return nil, errors.New("gone is gone")
		}
		return nil, nil
	}
	for name, c := range map[string]struct {
		names, want []string
		complaint   string
	}{
		"what it needs first": {[]string{"top"}, []string{"bottom", "left", "right", "top"}, ""},
		"once":                {[]string{"right", "top", "right"}, []string{"bottom", "right", "left", "top"}, ""},
		"none":                {nil, nil, ""},
		"circle":              {[]string{"knot"}, nil, "module knot depends on itself"},
		"missing":             {[]string{"top", "gone"}, nil, "gone is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := moduleOrder(c.names, needs)
			if c.complaint != "" {
				assert.EqualError(t, err, c.complaint)
			} else {
				require.NoError(t, err)
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// module compiles a file that looks like a module with this .modinfo, a string of C.
func module(t testing.TB, info string) []byte {
	t.Helper()
	testsupport.Require(t, "gcc")
	dir := t.TempDir()
	source, object := filepath.Join(dir, "m.c"), filepath.Join(dir, "m.ko")
	text := `const char info[] __attribute__((section(".modinfo"))) = "` + info + `";`
	require.NoError(t, os.WriteFile(source, []byte(text), 0o666))
	out, err := exec.Command("gcc", "-c", source, "-o", object).CombinedOutput()
	require.NoError(t, err, string(out))
	content, err := os.ReadFile(object)
	require.NoError(t, err)
	return content
}

func TestDependencies(t *testing.T) {
	for name, c := range map[string]struct {
		info string
		want []string
	}{
		"two":    {`license=GPL\0depends=ib-core,udp_tunnel\0name=x`, []string{"ib_core", "udp_tunnel"}},
		"none":   {`depends=\0name=x`, []string{}},
		"silent": {`license=GPL`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := dependencies(module(t, c.info))
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
		})
	}
	_, err := dependencies([]byte("no module"))
	assert.Error(t, err)
}

func FuzzDependencies(f *testing.F) {
	f.Add(module(f, `depends=a,b`))
	f.Fuzz(func(t *testing.T, content []byte) {
		names, err := dependencies(content)
		assert.False(t, err != nil && names != nil)
		assert.NotContains(t, names, "")
	})
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rankset

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHasRDMA(t *testing.T) {
	for _, c := range []struct {
		name  string
		files []string
		want  bool
	}{
		{"no sysfs", nil, true},
		{"no driver", []string{"class/net/lo"}, false},
		{"a driver without devices", []string{"class/infiniband_verbs/abi_version"}, false},
		{"a device", []string{"class/infiniband/mlx5_0", "class/infiniband_verbs/abi_version", "class/infiniband_verbs/uverbs0"}, true},
		{"a device for verbs only", []string{"class/infiniband_verbs/abi_version", "class/infiniband_verbs/uverbs0"}, true},
	} {
		sys := t.TempDir()
		for _, f := range c.files {
			require.NoError(t, os.MkdirAll(filepath.Join(sys, f), 0o755))
		}
		assert.Equal(t, c.want, hasRDMA(sys), c.name)
	}
}

func TestSettingsWithoutRDMA(t *testing.T) {
	s := &Set{Ranks: []int{0}, NoRDMA: true}
	assert.Contains(t, s.Environment(0, environ()), "UCX_MODULES=^ib,rdmacm")
	assert.Equal(t, (&Set{Ranks: []int{0}}).Environment(0, environ()), s.Environment(0, environ("UCX_MODULES", "all")))
}

func TestRegisters(t *testing.T) {
	dev := t.TempDir()
	assert.False(t, registers(dev))
	require.NoError(t, os.MkdirAll(filepath.Join(dev, "dri/renderD128"), 0o755))
	assert.True(t, registers(dev))
}

func TestSettingsWithoutRegistration(t *testing.T) {
	const off = "UCX_RCACHE_ENABLE=n"
	environment := func(s Set) []string { s.Ranks = []int{0}; return s.Environment(0, environ()) }
	assert.Contains(t, environment(Set{NoRDMA: true, NoRegistration: true}), off)
	assert.NotContains(t, environment(Set{NoRDMA: true}), off)
	assert.NotContains(t, environment(Set{NoRegistration: true}), off)
}

func TestHugeText(t *testing.T) {
	for word, want := range map[string]bool{"": false, "file": false, "huge": true} {
		huge, err := HugeText(environ("TPSL_TEXT", word))
		require.NoError(t, err)
		assert.Equal(t, want, huge, word)
	}
	_, err := HugeText(environ("TPSL_TEXT", "1"))
	assert.EqualError(t, err, `environment: TPSL_TEXT="1": want file or huge`)
}

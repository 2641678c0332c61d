// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rankset

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCrowded(t *testing.T) {
	for _, c := range []struct {
		name                       string
		ranks, local, allowed, job int
		want                       bool
	}{
		{"one rank", 1, 1, 1, 8, false},
		{"one rank of a bound process", 1, 2, 1, 8, false},
		{"one rank of each process, more than CPUs", 1, 9, 8, 8, true},
		{"as many as CPUs", 4, 8, 8, 8, false},
		{"more than CPUs", 4, 9, 8, 8, true},
		{"more than the job has", 2, 4, 2, 2, true},
		{"bound, enough", 2, 8, 2, 8, false},
		{"bound to fewer", 2, 2, 1, 8, true},
		{"bound as other processes are", 2, 4, 2, 2, true},
	} {
		s := Set{Ranks: make([]int, c.ranks), LocalRanks: c.local}
		assert.Equal(t, c.want, s.crowded(c.allowed, c.job), c.name)
	}
	assert.Equal(t, runtime.NumCPU(), usable(os.Getpid()))
}

func TestYields(t *testing.T) {
	folder := t.TempDir()
	shim := []string{filepath.Join(folder, "libtpslyield.so")}
	few, many := &Set{Ranks: []int{0}, LocalRanks: 1}, &Set{Ranks: []int{0}, LocalRanks: runtime.NumCPU() + 1}
	few.Look()
	many.Look()
	yields := func(s *Set, word string) []string {
		list, err := s.Yields(folder, environ("TPSL_YIELD", word))
		require.NoError(t, err)
		return list
	}
	assert.Empty(t, yields(many, ""), "an installation without it")
	require.NoError(t, os.WriteFile(shim[0], nil, 0o600))
	for _, word := range []string{"", "auto"} {
		assert.Equal(t, shim, yields(many, word))
		assert.Empty(t, yields(few, word))
	}
	assert.Equal(t, shim, yields(few, "always"))
	assert.Empty(t, yields(many, "never"))
	_, err := few.Yields(folder, environ("TPSL_YIELD", "1"))
	assert.EqualError(t, err, `environment: TPSL_YIELD="1": want auto, always or never`)
}

// What each rank reads at its start is less where they are many, unless the user has said how much.
func TestSettingsOfCrowdedRanks(t *testing.T) {
	s := &Set{Ranks: []int{0}, Crowded: true}
	assert.Contains(t, s.Environment(0, environ()), "HWLOC_COMPONENTS=-pci,-linux:pci")
	assert.Contains(t, s.Environment(0, environ()), "HWLOC_PLUGINS_BLACKLIST=hwloc_gl.so,hwloc_opencl.so,hwloc_xml_libxml.so,hwloc_pci.so")
	assert.Equal(t, (&Set{Ranks: []int{0}}).Environment(0, environ()), s.Environment(0, environ("HWLOC_COMPONENTS", "pci")))
}

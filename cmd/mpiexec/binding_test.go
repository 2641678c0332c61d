// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// affinities runs three ranks under a launcher and returns the CPU mask of each.
func affinities(t *testing.T, launcher ...string) string {
	argv := slices.Concat(launcher, []string{"grep", "Cpus_allowed_list", "/proc/self/status"})
	out, errOut, code := testsupport.Run(t, limit, nil, argv...)
	require.Zero(t, code, "%v: %s", launcher, errOut)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	slices.Sort(lines)
	return strings.ReplaceAll(strings.Join(lines, " "), "Cpus_allowed_list:\t", "")
}

// caches returns those of some kinds that the kernel tells of. Kernels of some virtual machines tell of none.
func caches(t *testing.T, kinds ...string) (told []string) {
	levels, err := filepath.Glob("/sys/devices/system/cpu/cpu0/cache/index*/level")
	require.NoError(t, err)
	for _, kind := range kinds {
		has := slices.ContainsFunc(levels, func(file string) bool {
			level, err := os.ReadFile(file)
			return err == nil && strings.HasPrefix(kind, "l"+strings.TrimSpace(string(level)))
		})
		if has {
			told = append(told, kind)
		} else {
			_, errOut, code := testsupport.Run(t, limit, nil, "mpiexec", "-n", "1", "-bind-to", kind, "true")
			assert.Equal(t, 255, code)
			assert.Regexp(t, `^mpiexec: bind ranks on \S+: the kernel tells of no l\dd?cache near CPUs \S+, which this job may use: bind to core, numa or socket\n$`, errOut)
		}
	}
	return told
}

// Ranks get the CPUs that Hydra gives them, on the hardware at hand. It asks the processor for caches that the kernel does not tell of.
func TestBindingAsHydra(t *testing.T) {
	hydra := testsupport.Hydra(t)
	for _, line := range append(caches(t, "l1cache", "l1dcache", "l2cache", "l3cache"),
		"none", "core", "core:2", "hwthread", "socket", "numa", "machine", "rr", "package", "numanode", "user:1,0", "user:0+1,0", "user:0x2,1", "user:1",
		"core -map-by socket", "hwthread -map-by numa", "core -map-by machine", "socket -map-by core", "core -map-by hwthread",
	) {
		args := append([]string{"-l", "-n", "3", "-bind-to"}, strings.Fields(line)...)
		theirs := affinities(t, append(slices.Clone(hydra), args...)...)
		assert.Equal(t, theirs, affinities(t, append([]string{"mpiexec"}, args...)...), line)
	}
}

// Hydra binds to what the machine has; we, to what the job may use.
func TestBindingWithinMask(t *testing.T) {
	testsupport.Require(t, "taskset")
	const inside = "[0] 1 [1] 1 [2] 1"
	for _, object := range append(caches(t, "l1cache"), "core", "hwthread", "socket", "numa", "machine", "rr") {
		assert.Equal(t, inside, affinities(t, "taskset", "-c", "1", "mpiexec", "-l", "-n", "3", "-bind-to", object), object)
	}
	assert.NotEqual(t, inside, affinities(t, slices.Concat([]string{"taskset", "-c", "1"}, testsupport.Hydra(t), []string{"-l", "-n", "3", "-bind-to", "core"})...), "outside, with Hydra")
}

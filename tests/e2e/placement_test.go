// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// mapped counts how often the text of a file is mapped. libucm patches that of libc, which
// is in several pieces then: the lowest one counts.
func mapped(job outcome, file string) (n int) {
	lowest := ""
	for _, m := range regexp.MustCompile(`(?m)^text (\w+) `+regexp.QuoteMeta(file)+`$`).FindAllStringSubmatch(job.stdout, -1) {
		switch {
		case lowest == "" || m[1] < lowest:
			lowest, n = m[1], 1
		case m[1] == lowest:
			n++
		}
	}
	return n
}

// What tpsl check tells is what runs, in shared and in private mode: a private file is mapped for each rank, any other
// once. A user's policy changes both.
func TestCheckTellsWhatRuns(t *testing.T) {
	const ranks = 3
	users := []string{"TPSL_POLICY=" + policy(t, "libhwloc.so.* shared\nlibnuma.so.* private\n[private]\nlibudev.so.* shared\n")}
	for name, c := range map[string]struct {
		compiler          string
		env               []string
		hwloc, numa, udev string // placements
	}{
		"shared mode":          {"tpslcc", nil, "private", "shared", "shared"},
		"shared mode, policy":  {"tpslcc", users, "shared", "private", ""}, // what only shared ones need is not told
		"private mode":         {"mpicc.mpich", nil, "private", "private", "private"},
		"private mode, policy": {"mpicc.mpich", users, "private", "private", "shared"},
	} {
		t.Run(name, func(t *testing.T) {
			testsupport.NothingLeft(t)
			program := testsupport.CC(t, c.compiler, "testdata/maps.c", "-fopenmp")
			env := append([]string{fmt.Sprint("OMP_NUM_THREADS=", map[string]int{"tpslcc": ranks, "mpicc.mpich": 1}[c.compiler])}, c.env...)
			var told struct {
				OK      bool
				Objects []struct{ Name, Path, Placement string }
			}
			checked := run(t, env, built(t, "bin/tpsl"), "check", "-json", program).succeeded(t)
			require.NoError(t, json.Unmarshal([]byte(checked.stdout), &told))
			require.True(t, told.OK)
			job := mpiexec(t, env, fmt.Sprintf("-n %d -rpp %d", ranks, ranks), program).succeeded(t)
			placed := map[string]string{}
			for _, o := range told.Objects {
				placed[o.Name] = o.Placement
				file, err := filepath.EvalSymlinks(o.Path)
				require.NoError(t, err)
				want := map[string]int{"private": ranks, "once": 1, "shared": 1}[o.Placement]
				assert.Equal(t, want, mapped(job, file), "%s is %s", file, o.Placement)
			}
			assert.Equal(t, []string{c.hwloc, c.numa, c.udev}, []string{placed["libhwloc.so.15"], placed["libnuma.so.1"], placed["libudev.so.1"]})
		})
	}
}

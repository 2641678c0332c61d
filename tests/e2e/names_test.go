// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/tpsl/names"
)

// installed returns a new prefix with all that make install puts there.
func installed(t *testing.T) string {
	t.Helper()
	prefix := filepath.Join(t.TempDir(), "tpsl")
	_, stderr, code := testsupport.Run(t, 5*time.Minute, nil, "make", "-s", "-o", "all", "-C", testsupport.Build(t), "install", "PREFIX="+prefix)
	require.Zero(t, code, stderr)
	return prefix
}

// exported returns the names that a library defines for the linker.
func exported(t *testing.T, path string) (list []string) {
	t.Helper()
	f, err := elf.Open(path)
	require.NoError(t, err)
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	require.NoError(t, err)
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF {
			list = append(list, s.Name)
		}
	}
	return list
}

// What programs are linked with has the functions of the installed MPI library, and no others of MPI.
func TestLinkedWithWhatIsThere(t *testing.T) {
	offered, has := exported(t, built(t, "lib/libtpsl.so")), functionsOf(t, mpich(t))
	for _, name := range slices.Concat(names.Stubs()...) {
		assert.Equal(t, has[name] != 0, slices.Contains(offered, name), name)
	}
	for _, name := range slices.Concat(ownNames(t), names.Fronts, []string{"MPI_UNWEIGHTED"}) {
		assert.True(t, slices.Contains(offered, name), name)
	}
}

// An MPI library that is newer than libtpsl's list has functions without a stub. After tpsl names programs link with them, and
// so do bindings that take them from the MPI library, even if ld.so binds them at the start.
func TestNamesOfNewerLibrary(t *testing.T) {
	testsupport.NothingLeft(t)
	prefix, dir := installed(t), t.TempDir()
	tpslcc := filepath.Join(prefix, "bin/tpslcc")
	newer := filepath.Join(dir, "libmpi.so.12")
	require.NoError(t, os.Symlink(library(t, "newer", "-DLIBRARY", "-Wl,-soname,libmpi.so.12"), newer))
	binding := library(t, "newer", "-DBINDING", "-Wl,-z,now", "-L"+dir, "-l:libmpi.so.12")
	require.NoError(t, os.Symlink(binding, filepath.Join(dir, "libmpifort.so.12")))
	program := filepath.Join(dir, "program")
	link := []string{tpslcc, "-fopenmp", "testdata/newer.c", "-o", program, binding, "-Wl,-z,now"}

	before := run(t, nil, link...)
	assert.NotZero(t, before.code)
	assert.Contains(t, before.stderr, "undefined reference to `MPII_Newer_inside'")

	said := run(t, nil, filepath.Join(prefix, "bin/tpsl"), "names", newer).succeeded(t)
	assert.Regexp(t, `^MPICH: \S+/libmpi.so.12; of libtpsl's names it lacks \d+, and it has 2 functions more\n$`, said.stdout)
	run(t, nil, link...).succeeded(t)
	job := run(t, []string{"TPSL_MPI_LIBRARY=" + newer}, filepath.Join(prefix, "bin/mpiexec"), "-n", "2", "-rpp", "2", program).succeeded(t)
	assert.Equal(t, []string{"42 43 same\n", "42 43 same\n"}, job.lines(), "each rank has called its own instance")

	lacking := run(t, nil, append(link, "-DLACKING")...)
	assert.NotZero(t, lacking.code)
	assert.Contains(t, lacking.stderr, "undefined reference to `MPI_Barrier'")
}

// What cannot be made is one line.
func TestNamesRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		env  []string
		args []string
		code int
		says []string
	}{
		{"not there", nil, []string{"/nowhere/libmpi.so"}, 1, []string{"find /nowhere/libmpi.so: not found"}},
		{"not MPI", nil, []string{"libm.so.6"}, 1, []string{"libm.so.6 is not MPI; name a library with the MPICH ABI or with the standard ABI"}},
		{"Open MPI", nil, []string{openMPI(t)}, 1, []string{"is Open MPI; name a library"}},
		{"two", nil, []string{"a", "b"}, 255, []string{"want at most one LIBRARY, have 2"}},
		{"no compiler", []string{"CC=nosuchcompiler"}, []string{mpich(t)}, 1, []string{"libtpsl.so: ", "nosuchcompiler"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			job := run(t, c.env, append([]string{filepath.Join(installed(t), "bin/tpsl"), "names"}, c.args...)...)
			assert.Equal(t, c.code, job.code)
			assert.Empty(t, job.stdout)
			oneLine(t, job, "tpsl names", c.says...)
		})
	}
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// Where a program or a library under it was linked with MPICH, a stand-in keeps ld.so from loading MPICH: the calls come
// to libtpsl, and the code of MPICH is mapped once per rank. The order of libraries on the link line is no matter, nor is
// an RPATH that leads to the real one.
func TestStandIns(t *testing.T) {
	const source = "testdata/standin.c"
	const real = "/usr/lib/x86_64-linux-gnu" // Debian's folder of libmpich.so.12
	third := testsupport.CC(t, "mpicc.mpich", source, "-DLIBRARY", "-shared", "-fPIC")
	library := []string{third, "-Wl,-rpath," + filepath.Dir(third), "-fopenmp"}
	rpath := append([]string{"-Wl,--disable-new-dtags,-rpath," + real}, library...)
	tool := testsupport.CC(t, "mpicc.mpich", "testdata/tool.c", "-shared", "-fPIC")
	for _, c := range []struct {
		name    string
		options string
		argv    []string
	}{
		{"relinked", "", []string{testsupport.CC(t, "tpslcc", source, library...)}},
		{"relinked, library opened", "", []string{testsupport.CC(t, "tpslcc", source, library...), third}},
		{"unmodified", "-tpsl shared", []string{testsupport.CC(t, "mpicc.mpich", source, library...)}},
		{"unmodified, library opened", "-tpsl shared", []string{testsupport.CC(t, "mpicc.mpich", source, library...), third}},
		{"unmodified, RPATH", "-tpsl shared", []string{testsupport.CC(t, "mpicc.mpich", source, rpath...)}},
		{"unmodified, preloaded tool", "-tpsl shared -genv LD_PRELOAD " + tool, []string{testsupport.CC(t, "mpicc.mpich", source, library...)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			testsupport.NothingLeft(t)
			job := mpiexec(t, nil, "-n 4 -rpp 2 "+c.options, c.argv...).succeeded(t)
			var want []string
			for rank := range 4 {
				want = append(want, fmt.Sprintf("rank %d of 4, library %d, thread %d, 2 real\n", rank, rank, rank))
			}
			got := job.lines()
			assert.Equal(t, want, got[:4])
			if len(got) > 4 {
				assert.Contains(t, c.name, "tool")
				assert.Equal(t, []string{"tool: 2 inits, 0 sends, 2 finalizes\n", "tool: 2 inits, 0 sends, 2 finalizes\n"}, got[4:])
			}
		})
	}
}

// A program runs on the MPI library that it was linked for, where that is not the system's.
func TestLinkedForAnother(t *testing.T) {
	testsupport.NothingLeft(t)
	const source = "testdata/standin.c"
	data, err := os.ReadFile("/usr/lib/x86_64-linux-gnu/libmpich.so.12")
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "libmpich.so.12"), data, 0o755))
	third := testsupport.CC(t, "mpicc.mpich", source, "-DLIBRARY", "-shared", "-fPIC")
	program := testsupport.CC(t, "mpicc.mpich", source, third, "-Wl,-rpath,"+filepath.Dir(third)+":$ORIGIN", "-fopenmp")
	moved := filepath.Join(dir, "program")
	data, err = os.ReadFile(program)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(moved, data, 0o755))
	job := mpiexec(t, nil, "-n 2 -rpp 2 -tpsl shared", moved).succeeded(t)
	assert.Equal(t, []string{"rank 0 of 2, library 0, thread 0, 0 real\n", "rank 1 of 2, library 1, thread 1, 0 real\n"}, job.lines(), "the one beside the program, not the system's")
}

// A Fortran program that was linked with MPICH, too.
func TestFortran(t *testing.T) {
	testsupport.Require(t, "gfortran")
	for _, c := range []struct{ compiler, options string }{
		{"tpslfort", ""},
		{"mpif90.mpich", "-tpsl shared"},
	} {
		t.Run(c.compiler, func(t *testing.T) {
			testsupport.NothingLeft(t)
			program := testsupport.CC(t, c.compiler, "testdata/sentinels.f90", "-fopenmp", "-Wall")
			job := mpiexec(t, nil, "-n 4 -rpp 2 "+c.options, program).succeeded(t)
			assert.Equal(t, []string{"rank 0 of 4: sum 10\n", "rank 1 of 4: sum 10\n", "rank 2 of 4: sum 10\n", "rank 3 of 4: sum 10\n"}, job.lines())
		})
	}
}

// libtpsl may come late, by dlopen, as it does for an interpreter whose extension module needs MPI.
func TestOpenedLate(t *testing.T) {
	program := testsupport.CC(t, "gcc", "testdata/opener.c")
	for _, library := range []string{"lib/libtpsl.so.0", "lib/tpsl/libmpich.so.12"} {
		t.Run(library, func(t *testing.T) {
			testsupport.NothingLeft(t)
			job := mpiexec(t, nil, "-n 2", program, built(t, library)).succeeded(t)
			assert.Equal(t, []string{"rank 0 of 2\n", "rank 1 of 2\n"}, job.lines())
		})
	}
}

// A constructor that dlopen runs may ask whether MPI is initialised, while another thread is inside MPI_Init.
func TestConstructorAsks(t *testing.T) {
	testsupport.NothingLeft(t)
	library := testsupport.CC(t, "tpslcc", "testdata/constructor.c", "-DLIBRARY", "-shared", "-fPIC", "-D_GNU_SOURCE")
	program := testsupport.CC(t, "tpslcc", "testdata/constructor.c", "-rdynamic", "-D_GNU_SOURCE")
	job := mpiexec(t, nil, "-n 2 -rpp 2 -timeout 100", program, library).succeeded(t)
	assert.Equal(t, "initialized: 0\n", job.stdout)
}

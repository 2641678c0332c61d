// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// Programs that are not position-independent run as thread ranks, since the program is then an ordinary process: C, C++ and
// Fortran, linked with libtpsl or with MPICH.
func TestFixedPositionShared(t *testing.T) {
	for _, c := range []struct{ name, compiler, source, options string }{
		{"C", "tpslcc", "testdata/linked.c", ""},
		{"C, stand-in", "mpicc.mpich", "testdata/linked.c", "-tpsl shared"},
		{"C++", "tpslcxx", "testdata/linked.cc", ""},
		{"C++, stand-in", "mpicxx.mpich", "testdata/linked.cc", "-tpsl shared"},
		{"Fortran", "tpslfort", "testdata/linked.f90", ""},
		{"Fortran, stand-in", "mpif90.mpich", "testdata/linked.f90", "-tpsl shared"},
	} {
		t.Run(c.name, func(t *testing.T) {
			testsupport.NothingLeft(t)
			program := testsupport.CC(t, c.compiler, c.source, "-fopenmp", "-fno-pie", "-no-pie")
			job := mpiexec(t, nil, "-n 4 -rpp 2 "+c.options, program).succeeded(t)
			assert.Equal(t, []string{"rank 0 of 4\n", "rank 1 of 4\n", "rank 2 of 4\n", "rank 3 of 4\n"}, job.lines())
		})
	}
}

// fixedPositionCompiler makes a compiler like those of some distributions: it builds programs that are not position-independent
// unless it is told otherwise.
func fixedPositionCompiler(t *testing.T, compiler string) string {
	t.Helper()
	testsupport.Require(t, compiler)
	path := filepath.Join(t.TempDir(), compiler)
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\nexec "+compiler+" -fno-pie -no-pie \"$@\"\n"), 0o755))
	return path
}

// What mpiexec advises for a program that is not position-independent makes the program one that runs once per rank: for a
// compiler, for what configure makes, which are the rules of make, and for CMake, in C and in Fortran.
func TestFixedPositionAdvice(t *testing.T) {
	testsupport.Require(t, "make", "cmake")
	c, fortran := fixedPositionCompiler(t, "mpicc.mpich"), fixedPositionCompiler(t, "mpif90.mpich")
	refused := mpiexec(t, nil, "-n 2 -rpp 2", testsupport.CC(t, "mpicc.mpich", "testdata/linked.c", "-fno-pie", "-no-pie"))
	assert.Equal(t, 255, refused.code)
	advice := regexp.MustCompile(`rebuild it with (-.*) \(configure: (.*); CMake: (.*)\), or use -rpp 1\n$`).FindStringSubmatch(refused.stderr)
	require.Len(t, advice, 4, refused.stderr)

	dir := t.TempDir()
	for _, name := range []string{"linked.c", "linked.f90"} {
		text, err := os.ReadFile("testdata/" + name)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "CMakeLists.txt"), []byte(`cmake_minimum_required(VERSION 3.13)
project(linked C Fortran)
add_executable(c linked.c)
add_executable(fortran linked.f90)
`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Makefile"), []byte(`c: linked.o
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@
fortran: linked.f90
	$(FC) $(FCFLAGS) $(LDFLAGS) $^ -o $@
`), 0o600))
	for _, build := range []struct{ name, flags, script string }{
		{"compiler", advice[1], `mkdir "$1" && "$CC" $2 linked.c -o "$1/c" && "$FC" $2 linked.f90 -o "$1/fortran"`},
		{"configure", advice[2], `mkdir "$1" && make -C "$1" -f ../Makefile VPATH=.. CC="$CC" FC="$FC" $2 c fortran`},
		{"CMake", advice[3], `cmake -S . -B "$1" -DCMAKE_C_COMPILER="$CC" -DCMAKE_Fortran_COMPILER="$FC" $2 && cmake --build "$1"`},
	} {
		t.Run(build.name, func(t *testing.T) {
			testsupport.NothingLeft(t)
			for _, built := range []struct {
				folder, flags string
				code          int
				ranks         []string
			}{{build.name, "", 255, nil}, {build.name + "-advised", build.flags, 0, twoRanks}} {
				folder := filepath.Join(dir, built.folder)
				made := run(t, []string{"CC=" + c, "FC=" + fortran}, "sh", "-c", `cd "$0" && `+build.script, dir, folder, built.flags)
				require.Zero(t, made.code, made.stderr)
				for _, program := range []string{"c", "fortran"} {
					job := mpiexec(t, nil, "-n 2 -rpp 2", filepath.Join(folder, program))
					assert.Equal(t, built.code, job.code, "%s with %q: %s", program, built.flags, job.stderr)
					assert.Equal(t, built.ranks, job.lines(), program)
				}
			}
		})
	}
}

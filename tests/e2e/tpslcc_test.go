// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

func tpslcc(t *testing.T, env []string, args ...string) outcome {
	t.Helper()
	return run(t, env, append([]string{built(t, "bin/tpslcc")}, args...)...)
}

const listing1 = "../../examples/listing1.c"

// What tpslcc tells is what it does: each line, run by hand, makes a program.
func TestTpslccTells(t *testing.T) {
	testsupport.NothingLeft(t)
	program := filepath.Join(t.TempDir(), "listing1")
	words := func(option string, args ...string) []string {
		return strings.Fields(tpslcc(t, nil, append([]string{option}, args...)...).succeeded(t).stdout)
	}

	shown := words("-show", "-fopenmp", listing1, "-o", program)
	assert.Equal(t, []string{"gcc", "-I" + built(t, "include"), "-fopenmp", listing1, "-o", program}, shown[:6])
	run(t, nil, shown...).succeeded(t)
	run(t, []string{"OMP_NUM_THREADS=1"}, program).succeeded(t)

	compile := append(words("-compile-info"), "-fopenmp", "-c", listing1, "-o", program+".o")
	run(t, nil, compile...).succeeded(t)
	link := words("-link-info")
	link = append([]string{link[0], "-fopenmp", program + ".o", "-o", program + "2"}, link[1:]...)
	run(t, nil, link...).succeeded(t)
	job := mpiexec(t, nil, "-n 2 -rpp 2", program+"2").succeeded(t)
	assert.Len(t, job.lines(), 2)
}

func TestTpslccCompilesAndLinks(t *testing.T) {
	testsupport.NothingLeft(t)
	program := filepath.Join(t.TempDir(), "listing1")
	tpslcc(t, nil, "-fopenmp", "-c", listing1, "-o", program+".o").succeeded(t)
	tpslcc(t, nil, "-fopenmp", program+".o", "-o", program).succeeded(t)
	job := mpiexec(t, nil, "-n 2 -rpp 2", program).succeeded(t)
	assert.Equal(t, []string{"thread 0 of 2 is rank 0 of 2\n", "thread 1 of 2 is rank 1 of 2\n"}, job.lines())
}

// An argument for the linker is none of the compiler's, and of several objects one can be made.
func TestTpslccKnowsWhatLinks(t *testing.T) {
	testsupport.NothingLeft(t)
	folder := t.TempDir()
	object, several, program := folder+"/listing1.o", folder+"/several.o", folder+"/listing1"
	tpslcc(t, nil, "-fopenmp", "-c", listing1, "-o", object).succeeded(t)
	tpslcc(t, nil, "-r", object, "-o", several).succeeded(t)
	tpslcc(t, nil, "-Xlinker", "-E", "-fopenmp", several, "-o", program).succeeded(t)
	job := mpiexec(t, nil, "-n 2 -rpp 2", program).succeeded(t)
	assert.Len(t, job.lines(), 2)
}

func TestTpslccRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		env  []string
		args []string
		says []string
	}{
		{"no input files", nil, nil, []string{"no input files (-help for usage)"}},
		{"no mpi.h", []string{"TPSL_MPI_INCLUDE=/nonexistent"}, []string{"x.c"}, []string{"no mpi.h of MPICH in /nonexistent", "install libmpich-dev", "TPSL_MPI_INCLUDE"}},
		{"no compiler", nil, []string{"-cc=nosuchcompiler", "x.c"}, []string{"find the C compiler", "TPSL_CC", "nosuchcompiler"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			job := tpslcc(t, c.env, c.args...)
			assert.Equal(t, 1, job.code)
			assert.Empty(t, job.stdout)
			oneLine(t, job, "tpslcc", c.says...)
		})
	}
}

// The user's flags may lead to MPICH's mpi.h, as those of a library over MPI do: ours comes first.
func TestTpslccWithMPICHsFlags(t *testing.T) {
	testsupport.Require(t, "pkg-config")
	flags := strings.Fields(run(t, nil, "pkg-config", "--cflags", "hdf5-mpich").succeeded(t).stdout)
	require.FileExists(t, strings.TrimPrefix(flags[len(flags)-1], "-I")+"/mpi.h")
	tpslcc(t, nil, append(flags, "-Werror", "-fopenmp", "-c", listing1, "-o", t.TempDir()+"/listing1.o")...).succeeded(t)
}

// The compiler's own exit status and words are the caller's.
func TestTpslccCompilerFails(t *testing.T) {
	job := tpslcc(t, nil, "nosuchfile.c")
	assert.Equal(t, 1, job.code)
	assert.Contains(t, job.stderr, "nosuchfile.c: No such file or directory")
	assert.NotContains(t, job.stderr, "tpslcc:")
}

func TestCPlusPlus(t *testing.T) {
	testsupport.NothingLeft(t)
	testsupport.Require(t, "g++")
	program := testsupport.CC(t, "tpslcxx", "testdata/three.cc", "-fopenmp", "-Wall", "-Wextra", "-Werror")
	job := mpiexec(t, nil, "-n 2 -rpp 2", program).succeeded(t)
	assert.Equal(t, []string{"rank 0 of 2, slot 0\n", "rank 1 of 2, slot 1\n"}, job.lines())
}

func TestPkgConfig(t *testing.T) {
	testsupport.NothingLeft(t)
	testsupport.Require(t, "pkg-config")
	folder := built(t, "lib")
	env := []string{"PKG_CONFIG_PATH=" + filepath.Join(folder, "pkgconfig")}
	flags := strings.Fields(run(t, env, "pkg-config", "--cflags", "--libs", "tpsl").succeeded(t).stdout)
	require.Contains(t, flags, "-ltpsl")
	program := testsupport.CC(t, "gcc", listing1, append([]string{"-fopenmp"}, flags...)...)
	job := mpiexec(t, nil, "-n 2 -rpp 2", program).succeeded(t)
	assert.Len(t, job.lines(), 2)
}

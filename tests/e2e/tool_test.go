// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// toolCases are the ways in which a tool gets in front of a program's MPI calls. build
// compiles the program with what it is given beside its source.
func toolCases(t *testing.T, form string, build func(more ...string) string) {
	t.Helper()
	object := testsupport.CC(t, "tpslcc", "testdata/tool.c", "-c")
	shared := testsupport.CC(t, "tpslcc", "testdata/tool.c", "-shared", "-fPIC")
	for _, c := range []struct {
		name    string
		program string
		options string
	}{
		{"linked", build("-Wl," + object), ""},
		{"library", build("-Wl,--no-as-needed", shared, "-Wl,-rpath,"+filepath.Dir(shared)), ""},
		{"preloaded", build(), "-genv LD_PRELOAD " + shared},
	} {
		t.Run(form+" "+c.name, func(t *testing.T) {
			testsupport.NothingLeft(t)
			job := mpiexec(t, nil, c.options+" -n 2 -rpp 2", c.program).succeeded(t)
			assert.Equal(t, "tool: 2 inits, 6 sends, 2 finalizes\n", job.stdout)
		})
	}
}

// A PMPI tool, in the program or in front of it, sees every call of every rank once,
// however MPI_Init is called.
func TestTool(t *testing.T) {
	for _, form := range []string{"TWO", "THREE", "ADDRESS", "THREAD"} {
		toolCases(t, form, func(more ...string) string { return fixture(t, "sends", append(more, "-D"+form)...) })
	}
}

// In private mode each rank has a tool of its own, as a flat process has.
func TestPrivateTool(t *testing.T) {
	testsupport.NothingLeft(t)
	tool := testsupport.CC(t, "mpicc.mpich", "testdata/tool.c", "-shared", "-fPIC")
	program := plain(t, "mpicc.mpich", "alone.c")
	options := "-genv LD_PRELOAD " + tool + " -n 2"
	want := mpiexec(t, nil, options, program, "return").succeeded(t)
	assert.Contains(t, want.stdout, "tool: 1 inits, 0 sends, 1 finalizes\n")
	assert.Equal(t, want.lines(), mpiexec(t, nil, options+" -rpp 2", program, "return").succeeded(t).lines())
}

// sendsf compiles sends in Fortran.
func sendsf(t *testing.T, compiler string, flags ...string) string {
	t.Helper()
	return testsupport.CC(t, compiler, "testdata/sendsf.f90", append(flags, "-cpp", "-fopenmp", "-fallow-argument-mismatch")...)
}

// The same tool, written in C, sees the calls of Fortran: libmpichfort calls MPI_Send as a
// program does.
func TestToolSeesFortran(t *testing.T) {
	testsupport.Require(t, "gfortran")
	toolCases(t, "mpif.h", func(more ...string) string { return sendsf(t, "tpslfort", more...) })
}

// The functions of mpi_f08 call PMPI_Send in MPICH 4.0.2: a tool in C sees as much of them
// as it sees of a flat program.
func TestToolAndModernFortran(t *testing.T) {
	testsupport.NothingLeft(t)
	testsupport.Require(t, "gfortran")
	tool := "-genv LD_PRELOAD " + testsupport.CC(t, "tpslcc", "testdata/tool.c", "-shared", "-fPIC")
	plain := mpiexec(t, []string{"OMP_NUM_THREADS=1"}, tool+" -n 2", sendsf(t, "mpif90.mpich", "-DF08")).succeeded(t)
	job := mpiexec(t, nil, tool+" -n 2 -rpp 2", sendsf(t, "tpslfort", "-DF08")).succeeded(t)
	assert.Equal(t, plain.stdout, job.stdout)
	plain = mpiexec(t, []string{"OMP_NUM_THREADS=1"}, tool+" -n 2", sendsf(t, "mpif90.mpich")).succeeded(t)
	assert.Equal(t, strings.Repeat("tool: 1 inits, 3 sends, 1 finalizes\n", 2), plain.stdout, "the tool works in a flat program")
}

// A tool that registers with QMPI before there are ranks hears that there is no QMPI, as under Debian's MPICH.
func TestToolRegistersInConstructor(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, program := range []string{flat(t, "testdata/qmpi.c"), fixture(t, "qmpi")} {
		got := mpiexec(t, nil, "-n 1", program)
		assert.Equal(t, "0 1\n1\n", got.stdout)
		assert.Empty(t, got.stderr)
		assert.Zero(t, got.code)
	}
}

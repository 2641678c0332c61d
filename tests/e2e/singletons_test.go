// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// Ranks that initialise an MPI library which mpiexec cannot serve are jobs of one each. mpiexec.hydra lets them run and returns 0; ours ends
// the job at once, in one line. A program that ends before MPI_Init is none of its business, nor is a library that speaks PMI by a
// plugin.
func TestSilentSingletons(t *testing.T) {
	testsupport.NothingLeft(t)
	mpi := testsupport.CC(t, "gcc", "testdata/fake_mpi.c", "-shared", "-fPIC", "-Wl,-soname,libmpi.so.12")
	program := testsupport.CC(t, "gcc", "testdata/singleton.c", mpi)
	// The file goes by its SONAME where ld.so looks for it.
	folder := t.TempDir()
	testsupport.Run(t, limit, nil, "ln", "-s", mpi, filepath.Join(folder, "libmpi.so.12"))
	here := []string{"LD_LIBRARY_PATH=" + folder}
	const line = `^mpiexec: \S+/singleton on \S+: its MPI library \(` + `\S+/libmpi.so.12\) does not speak the PMI of mpiexec, so each rank began a job of its own; ` +
		`build the program with MPICH, or start it by the launcher of that library\n$`

	o := mpiexec(t, append(here, "STAY=1"), "-n 2", program)
	assert.Equal(t, 255, o.code)
	assert.Regexp(t, line, o.stderr)
	o = mpiexec(t, append(here, "STAY=1"), "-n 1 /bin/true : -n 2", program)
	assert.Equal(t, 255, o.code)
	assert.Regexp(t, line, o.stderr)

	o = mpiexec(t, append(here, "STAY=1"), "-n 2 -rpp 2", program)
	assert.Equal(t, 255, o.code)
	assert.Regexp(t, line, o.stderr)

	for _, launcher := range [][]string{{built(t, "bin/mpiexec")}, testsupport.Hydra(t)} {
		help := append(append([]string{}, launcher...), "-n", "2", program, "--help")
		assert.Equal(t, "--help none 0\n--help none 0\n", run(t, here, help...).succeeded(t).stdout)
	}
	tool := library(t, "nothing")
	assert.Equal(t, "--help "+tool+" 0\n--help "+tool+" 0\n", mpiexec(t, append(here, "LD_PRELOAD="+tool), "-n 2", program, "--help").succeeded(t).stdout)
	assert.Equal(t, "done\ndone\n", mpiexec(t, append(here, "FAKE_SPEAKS=1"), "-n 2", program).succeeded(t).stdout)
	assert.Equal(t, "done\n", mpiexec(t, here, "-n 1", program).succeeded(t).stdout, "a job of one is what it should be")
}

// Debian's Open MPI speaks PMIx only. A program that is linked with it by way of a library gets that.
func TestOpenMPIWithoutPMIx(t *testing.T) {
	testsupport.NothingLeft(t)
	testsupport.Require(t, "mpicc.openmpi")
	program := testsupport.CC(t, "mpicc.openmpi", "testdata/openmpi.c", "-O2")
	env := []string{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"}
	o := mpiexec(t, env, "-pmi 2 -n 2", program)
	assert.Equal(t, 255, o.code)
	assert.Regexp(t, `(?m)^mpiexec: \S+/openmpi on \S+: its MPI library \(\S+/libmpi.so.40\) does not speak .*; leave -pmi 2 out, build`, o.stderr)

	between := testsupport.CC(t, "mpicc.openmpi", "testdata/between.c", "-shared", "-fPIC")
	indirect := testsupport.CC(t, "gcc", "testdata/indirect.c", between)
	assert.Equal(t, []string{"rank 0 of 2\n", "rank 1 of 2\n"}, mpiexec(t, env, "-n 2", indirect).succeeded(t).lines())
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// What belongs to the process: one rank changes it, all see it, and MPI goes on.
func TestProcessWide(t *testing.T) {
	testsupport.NothingLeft(t)
	job := mpiexec(t, nil, "-n 2 -rpp 2", fixture(t, "process"), t.TempDir()).succeeded(t)
	want := []string{"process: exit 1, finalized 1, 0 wrong\n"}
	for rank := range 2 {
		for line := range 500 {
			want = append(want, fmt.Sprintf("rank %d says line %d\n", rank, line))
		}
	}
	slices.Sort(want)
	assert.Equal(t, want, job.lines())
}

// However a process ends while a rank of it is inside MPI, the job ends with its code, and a
// line or the report says which ranks it was.
func TestEnds(t *testing.T) {
	program := fixture(t, "ends")
	const ranks = "ranks 0-1 (one process, "
	for _, c := range []struct {
		what   string
		code   int
		stdout string
		says   string
	}{
		{"exit", 5, "atexit: slot 0\n", "exited with status 5 without MPI_Finalize of ranks 0-1; exit was called by the thread of rank 0\n"},
		{"_exit", 6, "", "exited with status 6 without MPI_Finalize of ranks 0-1\n"},
		{"quick_exit", 7, "", "exited with status 7 without MPI_Finalize of ranks 0-1\n"},
		{"return", 0, "atexit: slot 0\n", "exited with status 0 without MPI_Finalize of ranks 0-1; exit was called by the thread of rank 0\n"},
		{"thread_ends", 0, "atexit: slot 0\n", "exited with status 0 without MPI_Finalize of ranks 0-1; exit was called by the thread of rank 0\n"},
	} {
		t.Run(c.what, func(t *testing.T) {
			testsupport.NothingLeft(t)
			job := mpiexec(t, nil, "-n 2 -rpp 2", program, c.what)
			assert.Equal(t, c.code, job.code)
			assert.Equal(t, c.stdout, job.stdout)
			oneLine(t, job, "mpiexec", ranks, c.says)
		})
	}
	testsupport.NothingLeft(t)
	job := mpiexec(t, nil, "-n 2 -rpp 2", program, "signal")
	assert.Equal(t, 15, job.code)
	assert.Contains(t, job.stderr, "mpiexec: ranks 0-1 (one process, ")
	assert.Contains(t, job.stderr, " were killed by SIGTERM (15, Terminated)")
}

// What an instance's code registers for the end runs when the process ends, once, as that
// rank, if the rank has called MPI_Finalize; the process's own copy, as nobody's.
func TestAtexitOfInstances(t *testing.T) {
	testsupport.NothingLeft(t)
	const source = "testdata/bye.c"
	bye := testsupport.CC(t, "gcc", source, "-DLIBRARY", "-shared", "-fPIC")
	program := testsupport.CC(t, "tpslcc", source, "-fopenmp", bye, "-Wl,-rpath,"+filepath.Dir(bye))
	private := []string{"TPSL_PRIVATE=" + filepath.Base(bye)}
	job := mpiexec(t, private, "-n 2 -rpp 2", program).succeeded(t)
	assert.Equal(t, []string{"bye of 0\n", "bye of 0,1\n", "bye of 1\n"}, job.lines())
	job = mpiexec(t, private, "-n 2 -rpp 2", program, "exit")
	assert.Equal(t, []string{"bye of 0,1\n"}, job.lines())
}

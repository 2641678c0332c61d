// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// pmixJob runs a job with a folder of its own for temporary files, which must be empty after it.
func pmixJob(t *testing.T, options string, program ...string) outcome {
	t.Helper()
	testsupport.NothingLeft(t)
	if _, err := os.Stat(built(t, "lib/tpsl/pmix")); err != nil {
		testsupport.Unable(t, "tpsl was built without libpmix: %v", err)
	}
	folder := t.TempDir()
	o := mpiexec(t, []string{"TMPDIR=" + folder}, options, program...)
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Empty(t, left)
	return o
}

// openMPIProgram compiles the program of these tests.
func openMPIProgram(t *testing.T) string {
	t.Helper()
	return testsupport.CC(t, "mpicc.openmpi", "testdata/openmpi.c")
}

// A rank that is killed leaves the others in a barrier, and shared memory of its own.
func TestOpenMPI(t *testing.T) {
	for _, c := range []struct {
		how, stderr string
		code        int
	}{
		{how: ""},
		{how: "code", code: 5},
		{how: "abort", code: 7},
		{how: "killed", stderr: "=   RANK: 1\n", code: 9},
		{how: "left", stderr: "without MPI_Finalize of rank 1\n", code: 3},
	} {
		t.Run("rank 1 "+c.how, func(t *testing.T) {
			o := pmixJob(t, "-l -n 3", openMPIProgram(t), c.how, ":", "-n", "1", openMPIProgram(t), c.how)
			assert.Equal(t, c.code, o.code, o.stderr)
			assert.Equal(t, c.stderr == "", o.stderr == "", o.stderr)
			assert.Contains(t, o.stdout+o.stderr, c.stderr)
			var want []string
			for rank := range 4 {
				want = append(want, fmt.Sprintf("[%d] rank %d of 4: %d from the left, sum 6\n", rank, rank, (rank+3)%4))
			}
			assert.Subset(t, o.lines(), want)
		})
	}
}

// Ranks get PMIx or PMI, never both, and nobody but this host can connect.
func TestPMIxSettings(t *testing.T) {
	o := pmixJob(t, "-pmi x -n 1", "env").succeeded(t)
	assert.Contains(t, o.stdout, "PMIX_RANK=0\n")
	assert.NotContains(t, "\n"+o.stdout, "\nPMI_")

	testsupport.Require(t, "ss")
	o = pmixJob(t, "-pmi x -n 1", "sh", "-c", `ss -Hltnp | grep "pid=$(pgrep -x pmix -P $PPID),"`).succeeded(t)
	for _, line := range o.lines() {
		assert.Regexp(t, `^LISTEN +\d+ +\d+ +127\.0\.0\.1:`, line)
	}
}

func TestPMIxFaults(t *testing.T) {
	program := openMPIProgram(t)
	for _, c := range []struct{ options, stderr string }{
		{"-rpp 2 -n 2 " + program, "which needs PMIx, and mpiexec serves that to ranks in processes of their own only; use -rpp 1 without -tpsl"},
		{"-launcher fork -hosts a,b -n 2 " + program, "and mpiexec serves that on one host only; run all ranks on one, or build the program with MPICH"},
		{"-pmi-port -n 2 " + program, "and that has a port of its own; leave -pmi-port out"},
		{"-n 1 true : -n 1 " + program, "is not linked with Open MPI, but others of this job are; give -pmi x"},
		{"-pmi x -n 1 sh -c kill${IFS}-9${IFS}$(pgrep${IFS}-x${IFS}pmix${IFS}-P${IFS}$PPID);sleep${IFS}20", "its helper lib/tpsl/pmix ended"},
		{"-pmi x -n 1 sh -c kill${IFS}-9${IFS}$PPID;sleep${IFS}20", "died"}, // the proxy
	} {
		words := strings.Fields(c.options)
		o := pmixJob(t, "", words...)
		assert.Equal(t, 255, o.code, c.options)
		assert.Empty(t, o.stdout, c.options)
		assert.Contains(t, o.stderr, c.stderr)
		assert.Equal(t, 1, strings.Count(o.stderr, "\n"), o.stderr)
	}
}

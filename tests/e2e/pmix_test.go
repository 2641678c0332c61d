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

func needsPMIxHelper(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(built(t, "lib/tpsl/pmix")); err != nil {
		testsupport.Unable(t, "tpsl was built without libpmix: %v", err)
	}
}

// pmixJob runs a job with a folder of its own for temporary files, which must be empty after it.
func pmixJob(t *testing.T, options string, program ...string) outcome {
	t.Helper()
	return pmixJobWith(t, nil, options, program...)
}

func pmixJobWith(t *testing.T, env []string, options string, program ...string) outcome {
	t.Helper()
	testsupport.NothingLeft(t)
	needsPMIxHelper(t)
	folder := t.TempDir()
	o := mpiexec(t, append(env, "TMPDIR="+folder), options, program...)
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

// endsOfOpenMPI are the ways of testdata/openmpi.c in which rank 1 ends, what stderr then contains, and mpiexec's exit code.
var endsOfOpenMPI = []struct {
	how    string
	stderr []string
	code   int
}{
	{how: ""},
	{how: "code", code: 5},
	{how: "abort", stderr: []string{"[1] MPI_ABORT was invoked on rank 1 ", "\nmpiexec: rank 1 on ", " called MPI_Abort: exit code 7\n"}, code: 7},
	{how: "killed", stderr: []string{"mpiexec: rank 1 ("}, code: 9},
	{how: "left", stderr: []string{"without MPI_Finalize of rank 1\n"}, code: 3},
}

// A rank that is killed leaves the others in a barrier, and shared memory of its own.
func TestOpenMPI(t *testing.T) {
	for _, c := range endsOfOpenMPI {
		t.Run("rank 1 "+c.how, func(t *testing.T) {
			o := pmixJob(t, "-l -n 3", openMPIProgram(t), c.how, ":", "-n", "1", openMPIProgram(t), c.how)
			assert.Equal(t, c.code, o.code, o.stderr)
			assert.Equal(t, c.stderr == nil, o.stderr == "", o.stderr)
			for _, part := range c.stderr {
				assert.Contains(t, o.stderr, part)
			}
			assert.Subset(t, o.lines(), ringLines(4))
		})
	}
}

// ringLines is what the ranks of openmpi.c print under -l.
func ringLines(n int) (lines []string) {
	for rank := range n {
		lines = append(lines, fmt.Sprintf("[%d] rank %d of %d: %d from the left, sum %d\n", rank, rank, n, (rank+n-1)%n, n*(n-1)/2))
	}
	return lines
}

// pmixClient compiles a client of PMIx without MPI.
func pmixClient(t *testing.T) string {
	t.Helper()
	return pmixProgram(t, "pmixclient")
}

func pmixProgram(t *testing.T, name string) string {
	t.Helper()
	testsupport.Require(t, "pkg-config")
	flags, _, _ := testsupport.Run(t, limit, nil, "pkg-config", "--cflags", "--libs", "pmix")
	return testsupport.CC(t, "cc", "testdata/"+name+".c", strings.Fields(flags)...)
}

// What ranks are told of the job is right on every host; fences of some ranks, values that no fence has brought, and names
// go from host to host.
func TestPMIxClients(t *testing.T) {
	program := pmixClient(t)
	o := pmixJob(t, "-l -pmi x -fanout 1 -launcher fork -hosts a:1,b:2,c:1 -n 2", program, ":", "-n", "2", program).succeeded(t)
	assert.Equal(t, []string{
		"[0] rank 0 of 4: node 0 of 3, a, local 0 of 1: 0; app 0 of 2, rank 0 of it; rank 1 is on b\n",
		"[1] rank 1 of 4: node 1 of 3, b, local 0 of 2: 1,2; app 0 of 2, rank 1 of it; rank 2 is on b\n",
		"[2] rank 2 of 4: node 1 of 3, b, local 1 of 2: 1,2; app 1 of 2, rank 0 of it; rank 3 is on c\n",
		"[3] rank 3 of 4: node 2 of 3, c, local 0 of 1: 3; app 1 of 2, rank 1 of it; rank 0 is on a\n",
	}, o.lines())
}

func TestPMIxSpawn(t *testing.T) {
	program := testsupport.CC(t, "mpicc.openmpi", "testdata/ompispawn.c")
	o := pmixJob(t, "-n 1", program).succeeded(t)
	assert.Equal(t, []string{"1 parents, 2 children, sum 3, \"\"\n", "1 parents, 2 children, sum 3, \"two words\"\n"}, o.lines())
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
		{"-rpp 2 -tpsl shared -n 2 " + program, "which needs PMIx, and thread ranks of this MPI library cannot use that; leave -tpsl shared out, or use -rpp 1"},
		{"-launcher fork -hosts a,b -n 1 " + program + " : -n 1 sleep 20", "the programs on a are served by PMIx, as their MPI library wants it, and those on b by PMI; start them as jobs of their own, or give -pmi x"},
		{"-pmi-port -n 2 " + program, "and that has a port of its own; leave -pmi-port out"},
		{"-n 1 true : -n 1 " + program, " is served by PMI, and others of this job by PMIx, as their MPI library wants it; start them as jobs of their own, or give -pmi x"},
		{"-rpp 2 -tpsl private -n 2 /bin/true : -rpp 2 -n 2 " + program, "mpiexec: /bin/true on "},
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

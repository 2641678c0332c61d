// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// Sessions in place of MPI_Init and beside it, in threads as in processes. MPICH 4.0.2
// itself crashes when it is to begin again after its last session or MPI_Finalize:
// mpiexec.hydra shows what is MPICH's.
func TestSessions(t *testing.T) {
	threads, processes := fixture(t, "sessions"), flat(t, "testdata/sessions.c")
	for _, c := range []struct {
		steps string
		uses  int
		code  int // of a crash
	}{
		{"use", 1, 0},
		{"keep use use close", 2, 0},
		{"init use use finalize", 2, 0},
		{"keep init use close use finalize", 2, 0},
		{"keep init finalize use close", 1, 0},
		{"use use", 1, 11},
		{"use init finalize", 1, 11},
	} {
		t.Run(c.steps, func(t *testing.T) {
			testsupport.NothingLeft(t)
			steps := strings.Fields(c.steps)
			var want []string
			for rank := range 4 {
				want = append(want, slices.Repeat([]string{fmt.Sprintf("rank %d of 4: sum 6\n", rank)}, c.uses)...)
			}
			oracle := hydra(t, nil, "-n 4", slices.Concat([]string{processes}, steps)...)
			assert.Equal(t, c.code != 0, oracle.code != 0, "mpiexec.hydra: %s%s", oracle.stdout, oracle.stderr)
			for _, options := range []string{"-n 4 -rpp 4", "-n 4 -rpp 2"} {
				job := mpiexec(t, checking, options, slices.Concat([]string{threads}, steps)...)
				assert.Equal(t, c.code, job.code, job.stderr)
				if c.code == 0 {
					assert.Empty(t, job.stderr)
					assert.Equal(t, want, job.lines())
				}
			}
		})
	}
}

// A process that runs on after MPI_Finalize of all its ranks has what it had at its start,
// and the two descriptors that the Go runtime waits with.
func TestNothingStaysAfterFinalize(t *testing.T) {
	testsupport.NothingLeft(t)
	ours := []string{"left: anon_inode:[eventfd]\n", "left: anon_inode:[eventpoll]\n"}
	for _, c := range []struct {
		options, program string
		processes        int
		left             []string
	}{
		{"-n 2", flat(t, "testdata/left.c"), 2, nil},
		{"-n 1 -rpp 2", fixture(t, "left"), 1, ours},
		{"-n 4 -rpp 4", fixture(t, "left"), 1, ours},
		{"-n 4 -rpp 2", fixture(t, "left"), 2, ours},
	} {
		job := mpiexec(t, nil, c.options, c.program).succeeded(t)
		want := append(slices.Repeat(c.left, c.processes), "between: more descriptors, more segments\n")
		slices.Sort(want)
		assert.Equal(t, want, job.lines(), c.options)
	}
}

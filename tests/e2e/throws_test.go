// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// threadsCC compiles a C++ program of testdata whose threads are ranks.
func threadsCC(t *testing.T, name string, flags ...string) string {
	t.Helper()
	testsupport.Require(t, "g++")
	return testsupport.CC(t, "tpslcc", "testdata/"+name+".cc", append([]string{"-cc=g++", "-fopenmp", "-O2"}, flags...)...)
}

// Exceptions pass through the MPI library, private or not.
func TestExceptionsThroughMPI(t *testing.T) {
	var want []string
	for rank := range 2 {
		for _, what := range []string{"copy", "delete", "handler", "handler", "operation"} {
			want = append(want, fmt.Sprintf("rank %d: %s\n", rank, what))
		}
	}
	plain := testsupport.CC(t, "mpicxx.mpich", "testdata/throws.cc", "-fopenmp", "-O2")
	for _, c := range []struct{ name, threads, options, program, check string }{
		{"flat", "1", "-n 2", plain, ""},
		{"thread ranks", "2", "-n 2 -rpp 2", threadsCC(t, "throws"), ""},
		{"thread ranks, checked", "2", "-n 2 -rpp 2", threadsCC(t, "throws"), "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			testsupport.NothingLeft(t)
			job := mpiexec(t, []string{"OMP_NUM_THREADS=" + c.threads, "TPSL_CHECK=" + c.check}, c.options, c.program).succeeded(t)
			assert.Equal(t, want, job.lines())
		})
	}
}

// Instances are no burden for exceptions that do not touch them. What other programs take of the machine only adds to a
// time, so the best of several rounds count.
func TestThrowCost(t *testing.T) {
	testsupport.NothingLeft(t)
	without, with := math.Inf(1), math.Inf(1)
	for range 4 {
		job := mpiexec(t, nil, "-n 64 -rpp 64", threadsCC(t, "throw_cost")).succeeded(t)
		var before, after float64
		_, err := fmt.Sscan(job.stdout, &before, &after)
		require.NoError(t, err, job.stdout)
		without, with = min(without, before), min(with, after)
	}
	t.Logf("a throw: %.0f ns without an instance, %.0f ns with 64", without, with)
	assert.Less(t, with/without, 2.0)
}

// Unwinders, sanitizers and profilers learn of the instances as of any library.
func TestObjectsAreListed(t *testing.T) {
	testsupport.NothingLeft(t)
	job := mpiexec(t, nil, "-n 2 -rpp 2", fixture(t, "objects")).succeeded(t)
	assert.Equal(t, "objects: 0 wrong\n", job.stdout)
}

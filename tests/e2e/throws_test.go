// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
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
		{"thread ranks, helped", "2", "-n 2 -rpp 2 -progress neighbours", threadsCC(t, "throws"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			testsupport.NothingLeft(t)
			job := mpiexec(t, []string{"OMP_NUM_THREADS=" + c.threads, "TPSL_CHECK=" + c.check}, c.options, c.program).succeeded(t)
			assert.Equal(t, want, job.lines())
		})
	}
}

// Instances are no burden for exceptions that do not touch them. Each pair of times is taken at once, so that what others take
// of the machine is in both; of jobs, which lie at other addresses, the middle one counts.
func TestThrowCost(t *testing.T) {
	testsupport.NothingLeft(t)
	var ratios []float64
	for range 5 {
		job := mpiexec(t, nil, "-n 64 -rpp 64", threadsCC(t, "throw_cost")).succeeded(t)
		var without, with, ratio float64
		_, err := fmt.Sscan(job.stdout, &without, &with, &ratio)
		require.NoError(t, err, job.stdout)
		t.Logf("a throw: %.0f ns without an instance, %.0f ns with 64; %.3f times", without, with, ratio)
		ratios = append(ratios, ratio)
	}
	slices.Sort(ratios)
	assert.Less(t, ratios[len(ratios)/2], 1.1)
}

// Unwinders, sanitizers and profilers learn of the instances as of any library.
func TestObjectsAreListed(t *testing.T) {
	testsupport.NothingLeft(t)
	job := mpiexec(t, nil, "-n 2 -rpp 2", fixture(t, "objects")).succeeded(t)
	assert.Equal(t, "objects: 0 wrong\n", job.stdout)
}

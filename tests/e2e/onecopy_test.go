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

// kernels are how the kernel takes a copy between processes: allowed, or refused
// as in many containers.
func kernels(t *testing.T) map[string][]string {
	t.Helper()
	return map[string][]string{
		"allowed": nil,
		"refused": {testsupport.CC(t, "gcc", "testdata/refuse.c")},
	}
}

// A copy between ranks of one process is ours, whatever the kernel says; but when it
// refuses and the job has other processes, a library must hear that.
func TestOneCopy(t *testing.T) {
	program, env := fixture(t, "init"), []string{"TPSL_MPI_LIBRARY=" + library(t, "onecopy")}
	const right, refused = 0, 99 // as in onecopy.c
	for _, c := range []struct {
		kernel, options string
		ranks, result   int
	}{
		{"allowed", "-n 2 -rpp 2", 2, right},
		{"allowed", "-n 4 -rpp 2", 4, right},
		{"refused", "-n 2 -rpp 2", 2, right},
		{"refused", "-n 4 -rpp 2", 4, refused},
	} {
		t.Run(c.kernel+" "+c.options, func(t *testing.T) {
			testsupport.NothingLeft(t)
			argv := slices.Concat(kernels(t)[c.kernel], []string{built(t, "bin/mpiexec")}, strings.Fields(c.options), []string{program})
			job := run(t, env, argv...).succeeded(t)
			assert.Equal(t, strings.Repeat(fmt.Sprintf("MPI_Init: %d\n", c.result), c.ranks), job.stdout)
		})
	}
}

// shmOnly keeps UCX from TCP. Where the kernel refuses cross-memory copies, UCX 1.13.1
// sends large messages over TCP, and MPICH 4.0.2 then hangs in MPI_Finalize every
// second time: flat under mpiexec.hydra, too.
var shmOnly = []string{"UCX_TLS=sm,self"}

// The real library's large messages are right either way.
func TestLargeMessages(t *testing.T) {
	program := fixture(t, "large")
	for _, c := range []struct {
		kernel, options string
		ranks           int
		env             []string
	}{
		{"allowed", "-n 2 -rpp 2", 2, nil},
		{"allowed", "-n 4 -rpp 2", 4, nil},
		{"refused", "-n 2 -rpp 2", 2, nil},
		{"refused", "-n 4 -rpp 2", 4, shmOnly},
	} {
		t.Run(c.kernel+" "+c.options, func(t *testing.T) {
			testsupport.NothingLeft(t)
			argv := slices.Concat(kernels(t)[c.kernel], []string{built(t, "bin/mpiexec")}, strings.Fields(c.options), []string{program})
			job := run(t, c.env, argv...).succeeded(t)
			var want []string
			for rank := range c.ranks {
				want = append(want, fmt.Sprintf("large: rank %d of %d, 0 wrong\n", rank, c.ranks))
			}
			assert.Equal(t, want, job.lines())
		})
	}
}

// Where all ranks of a job share an address space, one copy begins at 8 KiB; the user's
// own setting wins, and peers in other processes are met as UCX has it.
func TestEager(t *testing.T) {
	shared, private := fixture(t, "eager"), plain(t, "mpicc.mpich", "eager.c")
	for _, c := range []struct {
		name, options, program, setting string
		eager                           []int
	}{
		{"shared", "-n 2 -rpp 2", shared, "", []int{8191}},
		{"private", "-n 2 -rpp 2", private, "", []int{8191}},
		{"flat", "-n 2", private, "", []int{8191, 8192}},
		{"two processes", "-n 4 -rpp 2", shared, "", []int{8191, 8192}},
		{"the user's", "-n 2 -rpp 2", shared, "17000", []int{8191, 8192, 16384}},
		{"the user's, private", "-n 2 -rpp 2", private, "17000", []int{8191, 8192, 16384}},
	} {
		t.Run(c.name, func(t *testing.T) {
			testsupport.NothingLeft(t)
			env := []string{"UCX_RNDV_THRESH=" + c.setting}
			if c.setting == "" {
				env = nil
			}
			if c.program == private {
				env = append(env, "OMP_NUM_THREADS=1")
			}
			var want string
			for _, bytes := range []int{8191, 8192, 16384} {
				way := map[bool]string{true: "eager", false: "rendezvous"}[slices.Contains(c.eager, bytes)]
				want += fmt.Sprintf("%d bytes: %s\n", bytes, way)
			}
			assert.Equal(t, want, mpiexec(t, env, c.options, c.program).succeeded(t).stdout)
		})
	}
}

// Messages of all sizes arrive whole, beside each size at which the library changes its
// way too; one that is too long for its buffer is an error.
func TestMessageSizes(t *testing.T) {
	shared, private := fixture(t, "sizes"), plain(t, "mpicc.mpich", "sizes.c")
	for _, c := range []struct {
		name, options, program string
		ranks                  int
	}{
		{"shared", "-n 4 -rpp 4", shared, 4},
		{"private", "-n 2 -rpp 2", private, 2},
		{"two processes", "-n 4 -rpp 2", shared, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			testsupport.NothingLeft(t)
			var env []string
			if c.program == private {
				env = []string{"OMP_NUM_THREADS=1"}
			}
			var want []string
			for rank := range c.ranks {
				want = append(want, fmt.Sprintf("sizes: rank %d of %d, 0 wrong\n", rank, c.ranks))
			}
			assert.Equal(t, want, mpiexec(t, env, c.options, c.program).succeeded(t).lines())
		})
	}
}

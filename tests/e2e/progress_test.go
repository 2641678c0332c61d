// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// byNeighbours has ranks that wait help those that compute, and tell how often.
var byNeighbours = []string{"TPSL_PROGRESS=neighbours", "TPSL_PROGRESS_REPORT=1"}

var quietly = []string{"TPSL_PROGRESS=neighbours"}

var helped = regexp.MustCompile(`(?m)^tpsl: rank (\d+): helped (\d+) times, was helped (\d+) times, (\d+) of them with something to do; waited (\d+) times for a helper, at most [\d.]+ ms$`)

// usefulHelp returns how often ranks were helped with something to do.
func usefulHelp(t *testing.T, stderr string, ranks int) (useful int) {
	t.Helper()
	reports := helped.FindAllStringSubmatch(stderr, -1)
	require.Len(t, reports, ranks, stderr)
	for _, r := range reports {
		n, _ := strconv.Atoi(r[4])
		useful += n
	}
	return useful
}

// What rank 0 does with a rank that computes ends while that computes.
func TestProgress(t *testing.T) {
	testsupport.NothingLeft(t)
	program := fixture(t, "helped")
	r := mpiexec(t, []string{"TPSL_PROGRESS_REPORT=1"}, "-n 2 -rpp 2 -progress neighbours", program)
	require.Zero(t, r.code, r.stderr)
	assert.Equal(t, `send of 4 MiB: while the other computes, 1010101
synchronous send: while the other computes, 2020202
lock, put and unlock: while the other computes, 0
fetch and add: while the other computes, 0
one-sided sum: while the other computes, 0
allreduce of 1 MiB: while the other computes, 0
window: 1 1 1
`, r.stdout)
	assert.GreaterOrEqual(t, usefulHelp(t, r.stderr, 2), 6)
}

// A rank that gives the library functions of the program is not helped, and neither is one whose threads may all call MPI.
func TestProgressRefused(t *testing.T) {
	program := fixture(t, "helped")
	for _, why := range []string{"MPI_Op_create", "MPI_Comm_create_errhandler", "MPI_Win_create_errhandler", "MPI_Comm_create_keyval", "PMPI_Grequest_start", "MPI_THREAD_MULTIPLE"} {
		r := mpiexec(t, quietly, "-n 2 -rpp 2", program, why).succeeded(t)
		assert.Equal(t, "send of 4 MiB: later, 0\nwindow: 0 0 0\n", r.stdout, why)
	}
	own := mpiexec(t, []string{"TPSL_PROGRESS=own", "TPSL_PROGRESS_REPORT=1"}, "-n 2 -rpp 2", program, "none").succeeded(t)
	assert.Equal(t, "send of 4 MiB: later, 0\nwindow: 0 0 0\n", own.stdout)
	assert.Equal(t, "tpsl: TPSL_PROGRESS=fast: want own or neighbours\n",
		strings.Split(mpiexec(t, []string{"TPSL_PROGRESS=fast"}, "-n 1", example(t, "hello")).stderr, "mpiexec")[0])
}

// A rank that comes into the library by any of its ways waits for a helper that is on its way there, or inside.
func TestProgressPaused(t *testing.T) {
	pauses := testsupport.CC(t, "cc", "testdata/paused.c", "-DPRELOAD", "-O2", "-fno-builtin", "-shared", "-fPIC")
	program := fixture(t, "paused", pauses, "-lmpichfort")
	for _, point := range []string{"fence", "fenced", "inside"} {
		r := mpiexec(t, quietly, "-n 2 -rpp 2 -genv LD_PRELOAD "+pauses, program, point).succeeded(t)
		assert.Equal(t, "MPI_Test: waited\nPMPI_Test: waited\nmpi_test_: waited\nMPI_Get_count: waited\nTPSL_Symbol: waited\nMPI_Iprobe: waited\n", r.stdout, point)
	}
}

// Random calls have the results that they have without help. TPSL_TEST_LARGE=1 has 4 ranks make 10^7 of them together.
func TestProgressOfRandomCalls(t *testing.T) {
	testsupport.NothingLeft(t)
	processes, threads := flat(t, "testdata/randomcalls.c"), fixture(t, "randomcalls")
	useful := 0
	for seed, c := range []struct{ ranks, calls int }{{2, 20000}, {3, 8000}, {4, testsupport.Times(8000, 2_500_000)}} {
		n, words := strconv.Itoa(c.ranks), []string{strconv.Itoa(seed), strconv.Itoa(c.calls)}
		long := limit + time.Duration(c.calls)*500*time.Microsecond
		want := runFor(t, long, oneThread, slices.Concat(testsupport.Hydra(t), []string{"-n", n, "-genv", "LD_PRELOAD", built(t, "lib/tpsl/libtpslyield.so"), processes}, words)...).succeeded(t)
		got := runFor(t, long, byNeighbours, slices.Concat([]string{built(t, "bin/mpiexec"), "-n", n, "-rpp", n, threads}, words)...)
		require.Zero(t, got.code, got.stderr)
		assert.Equal(t, inOrder(want.stdout), inOrder(got.stdout), "%v", c)
		assert.Equal(t, c.ranks, strings.Count(got.stdout, ", 0 wrong\n"))
		useful += usefulHelp(t, got.stderr, c.ranks)
	}
	assert.NotZero(t, useful)
}

// Copies that several threads make are whole, or meet the bad address that they have to meet. The sanitizer finds parts that two threads copy.
func TestCopiesTogether(t *testing.T) {
	build := func(flags ...string) string {
		return testsupport.CC(t, "cc", "testdata/together.c", append(flags, "-D_GNU_SOURCE", "-pthread", "-I../../loader", "../../loader/copy_together.c")...)
	}
	assert.Equal(t, "0 wrong, some met a bad address\nthe helpers copied something\n", run(t, nil, build("-O2", "-DCOUNTS", "-fno-builtin"), "120", "faults").succeeded(t).stdout)
	assert.Equal(t, "0 wrong, none met a bad address\n", run(t, nil, build("-O1", "-fsanitize=thread"), "60").succeeded(t).stdout)
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// byMemory has libtpsl serve collective operations.
var byMemory = []string{"TPSL_COLLECTIVES=memory"}

// Random collective operations have the results of flat MPI: in one process, where they go by load and store, and in several, where
// communicators of one process do, and those of several processes in part. TPSL_TEST_LARGE=1 has two ranks make 10^5 of them.
func TestCollectives(t *testing.T) {
	testsupport.NothingLeft(t)
	processes, threads := flat(t, "testdata/randomcollectives.c"), fixture(t, "randomcollectives")
	for seed, c := range []struct{ ranks, sets, operations int }{
		{2, 2, testsupport.Times(1000, 100_000)}, {3, 3, 500}, {4, 2, 200}, {6, 6, 100}, {5, 2, 100}, {6, 2, 60},
	} {
		n, words := strconv.Itoa(c.ranks), []string{strconv.Itoa(seed), strconv.Itoa(c.operations)}
		long := limit + time.Duration(c.operations)*5*time.Millisecond
		want := runFor(t, long, oneThread, slices.Concat(testsupport.Hydra(t), []string{"-n", n, processes}, words)...).succeeded(t)
		got := runFor(t, long, byMemory, slices.Concat([]string{built(t, "bin/mpiexec"), "-n", n, "-rpp", strconv.Itoa(c.sets), threads}, words)...).succeeded(t)
		assert.Equal(t, inOrder(want.stdout), inOrder(got.stdout), "%v, seed %d", c, seed)
	}
}

// Wrong arguments have the error classes of flat MPI.
func TestCollectivesErrors(t *testing.T) {
	quiet := []string{"UCX_LOG_LEVEL=error"} // UCX warns of messages that a rank has not asked for after its error
	for _, ranks := range []string{"3", "4"} {
		want := hydra(t, slices.Concat(quiet, oneThread), "-n "+ranks, flat(t, "testdata/wrongcollectives.c")).succeeded(t)
		for _, sets := range []string{ranks, "2"} {
			got := mpiexec(t, slices.Concat(quiet, byMemory), "-n "+ranks+" -rpp "+sets, fixture(t, "wrongcollectives")).succeeded(t)
			assert.Equal(t, inOrder(want.stdout), inOrder(got.stdout), "-n %s -rpp %s", ranks, sets)
		}
	}
	for which, names := range [][]string{
		{"MPI_Barrier", "MPI_Allreduce of 4 elements of 8 bytes"}, {"MPI_Bcast with root 2", "MPI_Reduce of 4 elements of 8 bytes"},
		{"MPI_Alltoall", "MPI_Scan of 4 elements of 8 bytes"}, {"MPI_Gather with root 0", "MPI_Allreduce with arguments that the MPI library has to judge"},
	} {
		differ := mpiexec(t, byMemory, "-n 3 -rpp 3", fixture(t, "wrongcollectives"), strconv.Itoa(which+1))
		assert.NotZero(t, differ.code)
		assert.Regexp(t, `(?m)^tpsl: ranks \d and \d of one communicator.* call different collective operations: `, differ.stderr)
		for _, name := range names {
			assert.Contains(t, differ.stderr, name)
		}
	}
	assert.Equal(t, "tpsl: TPSL_COLLECTIVES=fast: want library or memory\n",
		strings.Split(mpiexec(t, []string{"TPSL_COLLECTIVES=fast"}, "-n 1", example(t, "hello")).stderr, "mpiexec")[0])
}

// Ranks meet in the same operation by whichever path they reach it, and sums are those of the ranks in their order. A tool sees as many
// calls as without.
func TestCollectivesByAllPaths(t *testing.T) {
	program := fixture(t, "paths", "-lmpichfort")
	tool := testsupport.CC(t, "mpicc.mpich", "testdata/allreduces.c", "-shared", "-fPIC")
	for ranks, want := range map[int]string{3: "42, 3, 51, 3, 0, 0", 6: "42, 15, 102, 6, 0, 0"} {
		options := fmt.Sprintf("-n %d -rpp %d -genv LD_PRELOAD %s", ranks, ranks, tool)
		got := inOrder(mpiexec(t, byMemory, options, program, filepath.Join(t.TempDir(), "file")).succeeded(t).stdout)
		for rank := range ranks {
			assert.Equal(t, fmt.Sprintf("rank %d: %s\n", rank, want), got[rank])
		}
		require.Len(t, got, ranks+1)
		other := inOrder(mpiexec(t, nil, options, program, filepath.Join(t.TempDir(), "file")).succeeded(t).stdout)
		assert.Regexp(t, `^tool: [1-9]\d* allreduces\n$`, got[ranks])
		assert.Equal(t, other[ranks], got[ranks])
	}
}

// Ranks get the same sums of numbers whose sum depends on the order of additions, in communicators of several processes that come and go,
// and so do ranks of the next run. In the long run more communicators come than the library has at a time.
func TestCollectivesOverProcesses(t *testing.T) {
	program, many := fixture(t, "overprocesses"), strconv.Itoa(testsupport.Times(20, 3000))
	testsupport.Limit(t, 20*limit)
	for _, options := range []string{"-n 4 -rpp 2", "-n 5 -rpp 2", "-n 6 -rpp 4"} {
		once := runFor(t, 5*limit, byMemory, slices.Concat([]string{built(t, "bin/mpiexec")}, strings.Fields(options), []string{program, many})...).succeeded(t)
		assert.Equal(t, 1, strings.Count(once.stdout, "\n"), once.stdout)
		assert.Equal(t, once.stdout, mpiexec(t, byMemory, options, program, "5").succeeded(t).stdout, options)
	}
	// Ranks 0 and 1 have the numbers 3 and 2 in the communicator.
	differ := mpiexec(t, byMemory, "-n 4 -rpp 2", program, "1", "differ")
	assert.NotZero(t, differ.code)
	assert.Regexp(t, `(?m)^tpsl: ranks (2 and 3|3 and 2) of one communicator, of which the first is rank [01] of the job, call different collective operations: `, differ.stderr)
}

// Processes that know nothing of these operations are not waited for.
func TestCollectivesBesideOthers(t *testing.T) {
	threads, processes := fixture(t, "overprocesses"), flat(t, "testdata/overprocesses.c")
	for _, options := range []string{
		"-n 4 -rpp 2 " + threads + " 5 : -n 1 -env OMP_NUM_THREADS 1 " + processes + " 5",
		"-n 4 -rpp 2 " + threads + " 5 : -n 2 -rpp 2 -env TPSL_COLLECTIVES library " + threads + " 5",
		"-n 3 -env OMP_NUM_THREADS 1 " + threads + " 5",
		"-n 4 -rpp 2 -env OMP_NUM_THREADS 1 " + processes + " 5", // in private mode
	} {
		got := mpiexec(t, byMemory, options).succeeded(t)
		assert.Equal(t, 1, strings.Count(got.stdout, "\n"), "%s: %s", options, got.stdout)
	}
}

// Members of a team that run in any order tell each other what they were to tell. The sanitizer finds what they read while it is written.
func TestTeams(t *testing.T) {
	for _, sanitizer := range []string{"-O2", "-fsanitize=thread"} {
		program := testsupport.CC(t, "cc", "testdata/teams.c", "-D_GNU_SOURCE", "-pthread", "-I../../tpsl", sanitizer, "../../tpsl/team.c")
		for _, members := range []string{"2", "3", "7"} {
			assert.Equal(t, "0 wrong\n", run(t, nil, program, members, "3000").succeeded(t).stdout, "%s %s", sanitizer, members)
			assert.Equal(t, "0 wrong\n", run(t, nil, program, members, "3000", "led").succeeded(t).stdout, "%s %s, led", sanitizer, members)
		}
	}
}

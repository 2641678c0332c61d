// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// Listing 1 of the paper, as printed, gives each thread of a team a rank of its own.
func TestListing1(t *testing.T) {
	testsupport.NothingLeft(t)
	program := example(t, "listing1")
	for _, threads := range []int{1, 2, 3, 4} {
		t.Run(fmt.Sprintf("rpp=%d", threads), func(t *testing.T) {
			job := mpiexec(t, nil, fmt.Sprintf("-n 4 -rpp %d", threads), program)
			if threads == 1 {
				job = mpiexec(t, []string{"OMP_NUM_THREADS=1"}, "-n 4", program)
			}
			job.succeeded(t)
			var want []string
			for rank := range 4 {
				team := min(threads, 4-rank/threads*threads) // the last process takes the rest
				want = append(want, fmt.Sprintf("thread %d of %d is rank %d of 4\n", rank%threads, team, rank))
			}
			assert.ElementsMatch(t, want, job.lines())
		})
	}
}

func TestExamples(t *testing.T) {
	testsupport.NothingLeft(t)
	ring := mpiexec(t, nil, "-n 4 -rpp 2", example(t, "ring")).succeeded(t)
	assert.Equal(t, "ring: 4 ranks, sum 6, expected 6\n", ring.stdout)

	hello := mpiexec(t, nil, "-n 4 -rpp 2", example(t, "hello")).succeeded(t)
	processes := map[string]int{}
	for _, line := range hello.lines() {
		_, process, _ := strings.Cut(line, "process ")
		processes[process]++
	}
	require.Len(t, processes, 2, hello.stdout)
	for process, ranks := range processes {
		assert.Equal(t, 2, ranks, "ranks of process %s", process)
	}
}

// checksum returns the halo program's answer, which it has verified itself.
func checksum(t *testing.T, job outcome, layout string) string {
	t.Helper()
	job.succeeded(t)
	assert.Contains(t, job.stdout, "halo: 4 ranks, "+layout)
	_, sum, found := strings.Cut(job.stdout, "checksum ")
	require.True(t, found, job.stdout)
	sum, verified := strings.CutSuffix(sum, ", verified\n")
	require.True(t, verified, job.stdout)
	return sum
}

// The answer does not depend on how four ranks are laid out, nor on the launcher.
func TestHalo(t *testing.T) {
	testsupport.NothingLeft(t)
	program := example(t, "halo")
	want := checksum(t, hydra(t, nil, "-n 4", flat(t, "../../examples/halo.c")), "4 processes x 1 thread rank,")
	for _, c := range []struct{ options, layout string }{
		{"-n 4 -rpp 4", "1 process x 4 thread ranks"},
		{"-n 4 -rpp 2", "2 processes x 2 thread ranks"},
		{"-n 4 -rpp 1", "4 processes x 1 thread rank,"},
	} {
		t.Run(c.layout, func(t *testing.T) {
			assert.Equal(t, want, checksum(t, mpiexec(t, nil, c.options, program), c.layout))
		})
	}
}

// A team of threads that shrinks and grows again keeps its ranks.
func TestTeam(t *testing.T) {
	testsupport.NothingLeft(t)
	job := mpiexec(t, nil, "-n 4 -rpp 4", fixture(t, "team")).succeeded(t)
	assert.Equal(t, "team: 0 wrong\n", job.stdout)
}

// Threads that a rank makes act for it, and a thread may act for another rank.
func TestHelper(t *testing.T) {
	testsupport.NothingLeft(t)
	program := fixture(t, "helper")
	job := mpiexec(t, nil, "-n 4 -rpp 2", program).succeeded(t)
	assert.Equal(t, strings.Repeat("helper: 0 wrong\n", 2), job.stdout)
	job = mpiexec(t, []string{"OMP_NUM_THREADS=1"}, "-n 2", program).succeeded(t)
	assert.Equal(t, strings.Repeat("helper: 0 wrong\n", 2), job.stdout)
}

// verify asks the runtime for the proof that no pointer of one instance leads into
// another, after start-up and again after traffic.
var verify = []string{"TPSL_VERIFY=1"}

func TestRanks(t *testing.T) {
	testsupport.NothingLeft(t)
	program := fixture(t, "ranks")
	for _, c := range []struct {
		options string
		ranks   int
	}{{"-n 8 -rpp 8", 8}, {"-n 4 -rpp 2", 4}} {
		t.Run(c.options, func(t *testing.T) {
			job := mpiexec(t, verify, c.options, program).succeeded(t)
			assert.Equal(t, fmt.Sprintf("ranks: %d ranks right\n", c.ranks), job.stdout)
		})
	}
}

// In partitioned communication a rank of MPICH keeps the address of its peer's request, as a token. That is no pointer.
func TestVerifyPartitioned(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, options := range []string{"-n 2 -rpp 2", "-n 4 -rpp 4"} {
		job := mpiexec(t, verify, options, fixture(t, "partitioned")).succeeded(t)
		assert.Equal(t, "partitioned: 0 wrong\n", job.stdout, options)
	}
}

func TestRanks64(t *testing.T) {
	testsupport.NothingLeft(t)
	argv := []string{built(t, "bin/mpiexec"), "-n", "64", "-rpp", "64", fixture(t, "ranks")}
	job := runFor(t, 4*time.Minute, nil, argv...).succeeded(t)
	assert.Equal(t, "ranks: 64 ranks right\n", job.stdout)
}

// Ranks that share a CPU spin away each other's time in the barriers that MPICH
// starts up with, over shared memory; without those barriers they wait in PMI.
var crowded = []string{"MPIR_CVAR_NOLOCAL=1"}

// Hundreds of ranks of one process start, add up their numbers and end.
func TestRanks512(t *testing.T) {
	if !testsupport.Large() {
		t.Skip("takes minutes on few CPUs: TPSL_TEST_LARGE=1 asks for it")
	}
	for _, c := range []struct{ mode, program string }{{"shared", fixture(t, "sum")}, {"private", flat(t, "testdata/sum.c")}} {
		for _, ranks := range []int{256, 512} {
			t.Run(fmt.Sprintf("%s/%d", c.mode, ranks), func(t *testing.T) {
				testsupport.NothingLeft(t)
				env := crowded
				if c.mode == "private" {
					env = append([]string{"OMP_NUM_THREADS=1"}, crowded...)
				}
				begin := time.Now()
				n := fmt.Sprint(ranks)
				job := runFor(t, 20*time.Minute, env, built(t, "bin/mpiexec"), "-n", n, "-rpp", n, c.program).succeeded(t)
				assert.Equal(t, fmt.Sprintf("sum: %d of %d ranks\n", ranks*(ranks-1)/2, ranks), job.stdout)
				t.Logf("%d ranks: %v", ranks, time.Since(begin))
			})
		}
	}
}

// A program for one rank per process, under both launchers, threads and all.
func TestMultiple(t *testing.T) {
	testsupport.NothingLeft(t)
	program := fixture(t, "multiple")
	for _, job := range []outcome{mpiexec(t, nil, "-n 4", program), hydra(t, nil, "-n 4", program)} {
		assert.Equal(t, "multiple: 4 ranks, provided 1, 0 wrong\n", job.succeeded(t).stdout)
	}
	alone := run(t, nil, program).succeeded(t)
	assert.Equal(t, "multiple: 1 ranks, provided 1, 0 wrong\n", alone.stdout)
}

var processNumber = regexp.MustCompile(` of process \d+`)

// anonymous returns the lines that were printed, process numbers aside.
func anonymous(o outcome) []string {
	o.stdout = processNumber.ReplaceAllString(o.stdout, "")
	return o.lines()
}

func letters(o outcome) string {
	all := []byte(strings.Join(anonymous(o), ""))
	slices.Sort(all)
	return string(all)
}

// underHydra runs a program under mpiexec.hydra. Hydra passes on what it reads, so that a
// line of two writes may come apart among others, which ours never does: a run whose
// letters are right and whose lines are not is made again.
func underHydra(t *testing.T, env []string, program string, ours outcome) (o outcome) {
	t.Helper()
	for range 5 {
		o = hydra(t, env, "-n 4", program)
		require.Equal(t, letters(o), letters(ours), "under Hydra:\n%s\nunder ours:\n%s", o.stdout, ours.stdout)
		if slices.Equal(anonymous(o), anonymous(ours)) {
			break
		}
	}
	return o
}

// Programs of plain MPICH run under our launcher as under Hydra.
func TestFlat(t *testing.T) {
	testsupport.NothingLeft(t)
	env := []string{"OMP_NUM_THREADS=1"}
	for _, source := range []string{"../../examples/hello.c", "../../examples/ring.c", "../../examples/halo.c", "testdata/multiple.c", "testdata/brief.c"} {
		t.Run(source, func(t *testing.T) {
			program := flat(t, source)
			ours := mpiexec(t, env, "-n 4", program)
			hydra := underHydra(t, env, program, ours)
			assert.Equal(t, hydra.code, ours.code)
			assert.Equal(t, anonymous(hydra), anonymous(ours))
			assert.Equal(t, hydra.stderr, ours.stderr)
		})
	}
}

// An answer that is wrong shows in the exit code, under both launchers alike.
func TestFlatFails(t *testing.T) {
	testsupport.NothingLeft(t)
	program := []string{flat(t, "../../examples/halo.c"), "-x"}
	want := hydra(t, nil, "-n 2", program...)
	got := mpiexec(t, nil, "-n 2", program...)
	assert.Equal(t, 2, got.code)
	assert.Equal(t, want.code, got.code)
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

func ranksVariable(n int) []string { return []string{fmt.Sprint("TPSL_RANKS=", n)} }

// own is what fixture own prints on each rank.
func own(ranks int) (lines []string) {
	for r := range ranks {
		lines = append(lines, fmt.Sprintf("rank %d of %d, slot %d, sum %d\n", r, ranks, r, ranks*(ranks-1)/2))
	}
	return lines
}

// A process makes a job of as many ranks as TPSL_RANKS says, without a launcher, and computes what a job of mpiexec does. OpenMP has as many
// threads, also for programs that do not ask how many ranks there are.
func TestOwnJob(t *testing.T) {
	testsupport.NothingLeft(t)
	halo := example(t, "halo")
	checksum := func(o outcome) string {
		_, sum, found := strings.Cut(o.succeeded(t).stdout, "checksum ")
		require.True(t, found, o.stdout)
		return sum
	}
	want := checksum(mpiexec(t, nil, "-n 4", halo))
	assert.Equal(t, want, checksum(mpiexec(t, nil, "-n 4 -rpp 4", halo)))
	for _, ranks := range []int{1, 2, 4} {
		assert.Equal(t, want, checksum(run(t, ranksVariable(ranks), halo)), "%d ranks", ranks)
	}
	program := fixture(t, "own")
	for _, ranks := range []int{1, 2, 5} {
		assert.Equal(t, own(ranks), run(t, ranksVariable(ranks), program).succeeded(t).lines())
	}
	fortran := testsupport.CC(t, "tpslfort", "../../examples/listing1f.f90", "-fopenmp", "-O2")
	assert.Equal(t, mpiexec(t, nil, "-n 3 -rpp 3", fortran).succeeded(t).lines(), run(t, ranksVariable(3), fortran).succeeded(t).lines())
}

// The settings that change how ranks of one process meet have an effect without a launcher, too.
func TestOwnJobSettings(t *testing.T) {
	testsupport.NothingLeft(t)
	program := fixture(t, "own")
	for _, setting := range []string{"TPSL_CHECK=1", "TPSL_VERIFY=1", "TPSL_COLLECTIVES=memory", "TPSL_WINDOWS=memory", "TPSL_PROGRESS=neighbours", "TPSL_YIELD=always", "TPSL_CPUS=0;0;0"} {
		assert.Equal(t, own(3), run(t, append(ranksVariable(3), setting), program).succeeded(t).lines(), setting)
	}
}

// Without the variable, an OpenMP team is a job if the first MPI call comes from one. A call from outside is one rank, as ever.
func TestOwnJobOfATeam(t *testing.T) {
	testsupport.NothingLeft(t)
	program := fixture(t, "own")
	threads := []string{"OMP_NUM_THREADS=3"}
	assert.Equal(t, own(3), run(t, threads, program).succeeded(t).lines())
	assert.Equal(t, own(1), run(t, []string{"OMP_NUM_THREADS=1"}, program).succeeded(t).lines())
	assert.Equal(t, "alone: 1\n", run(t, threads, program, "alone").succeeded(t).stdout)
	// A launcher's word counts.
	assert.Equal(t, own(1), mpiexec(t, []string{"OMP_NUM_THREADS=1"}, "-n 1", program).succeeded(t).lines())
	job := mpiexec(t, threads, "-n 1", program)
	assert.Equal(t, 1, job.code)
	oneLine(t, job, "tpsl", "the only slot is 0; you passed ", "start it with mpiexec -rpp ")
}

// Each wrong use is one line that says what to do.
func TestOwnJobMisuse(t *testing.T) {
	testsupport.NothingLeft(t)
	program := fixture(t, "own")
	for _, c := range []struct {
		ranks string
		env   []string
		what  string
		code  int
		says  []string
	}{
		{"0", nil, "", 1, []string{`TPSL_RANKS="0": want a whole number of ranks, 1 or more`}},
		{"-2", nil, "", 1, []string{`TPSL_RANKS="-2": want a whole number of ranks, 1 or more`}},
		{"many", nil, "", 1, []string{`TPSL_RANKS="many": want a whole number of ranks, 1 or more`}},
		{"99999999999999999999", nil, "", 1, []string{`TPSL_RANKS="99999999999999999999": want a whole number of ranks, 1 or more`}},
		{"1000000", nil, "", 1, []string{"1000000 ranks need about ", "vm.max_map_count", "use a smaller TPSL_RANKS"}},
		{"2", []string{"TPSL_CPUS=0"}, "", 1, []string{`TPSL_RANKS: the CPUs are "0", which are a list for 1 rank, and the job has 2`}},
		{"2", []string{"OMP_NUM_THREADS=3"}, "", 1, []string{"slots are 0 to 1; you passed 2", "start it with TPSL_RANKS=3 or more, or set OMP_NUM_THREADS=2"}},
		{"3", []string{"TPSL_INIT_TIMEOUT=1", "OMP_NUM_THREADS=2"}, "", 255, []string{"no thread has claimed rank 2 (slot 2)", "or a smaller TPSL_RANKS"}},
		{"2", []string{"TPSL_INIT_TIMEOUT=1"}, "alone", 255, []string{"is the program written for one rank per process? then unset TPSL_RANKS"}},
		{"2", []string{"TPSL_WINDOWS=memmory"}, "", 1, []string{"TPSL_WINDOWS=memmory: want library or memory"}},
		{"2", []string{"PMI_FD=7", "PMI_RANK=0", "PMI_SIZE=1"}, "", 1, []string{"TPSL_RANKS=2 is for programs that are started without a launcher", "unset it, or leave the launcher out"}},
		{"2", []string{"PMI_ID=0", "PMI_PORT=127.0.0.1:1"}, "", 1, []string{"TPSL_RANKS=2 is for programs that are started without a launcher"}},
		{"2", []string{"PMIX_RANK=0"}, "", 1, []string{"TPSL_RANKS=2 is for programs that are started without a launcher"}},
	} {
		job := run(t, append(c.env, "TPSL_RANKS="+c.ranks), program, c.what)
		assert.Equal(t, c.code, job.code, c)
		assert.Empty(t, job.stdout)
		oneLine(t, job, "tpsl", c.says...)
	}
	job := mpiexec(t, ranksVariable(2), "-n 1 -rpp 1", program)
	assert.Equal(t, 1, job.code)
	assert.Contains(t, job.stderr, "tpsl: TPSL_RANKS=2 is for programs that are started without a launcher, and a launcher has started this one")
}

// Ranks of an MPI library that speaks PMIx would each be a job of one.
func TestOwnJobOfPMIx(t *testing.T) {
	pmix := standardLibrary(t, "-DOPEN_MPI")
	job := run(t, append(ranksVariable(2), "OMP_NUM_THREADS=2", "TPSL_MPI_LIBRARY="+pmix), standardProgram(t))
	assert.Equal(t, 1, job.code)
	oneLine(t, job, "tpsl", pmix+" speaks PMIx (Open MPI), and a job without mpiexec serves PMI to its ranks: start the program with mpiexec")
}

// The process ends as the rank that ends it, and says which one that was.
func TestOwnJobEnds(t *testing.T) {
	testsupport.NothingLeft(t)
	program := fixture(t, "own")
	for _, c := range []struct {
		what string
		code int
		says []string
	}{
		{"abort", 7, []string{"application called MPI_Abort(MPI_COMM_WORLD, 7) - process 2"}},
		{"error", 6, []string{"MPI_Send", "Invalid rank has value 99"}}, // the class is MPI_ERR_RANK
		{"exit", 3, []string{"tpsl: rank 2 ends the process before its MPI_Finalize, by exit or by the return from main: all 3 ranks of the job end\n"}},
		{"crash", 128 + int(unix.SIGSEGV), []string{"tpsl: rank 2 (slot 2, thread ", "SIGSEGV at address 0x10 in own+0x"}},
	} {
		job := run(t, ranksVariable(3), "/bin/sh", "-c", `"$0" "$1"; exit $?`, program, c.what)
		assert.Equal(t, c.code, job.code, c.what)
		for _, text := range c.says {
			assert.Contains(t, job.stderr, text)
		}
		assert.NotContains(t, job.stderr, "goroutine")
		if c.what == "abort" || c.what == "error" {
			assert.NotContains(t, job.stderr, "tpsl:", "the MPI library has said why")
		}
	}
}

// A process that is killed leaves nothing once its ranks have initialised MPI, and readers from outside find its ranks meanwhile.
func TestOwnJobIsSeenAndKilled(t *testing.T) {
	testsupport.NothingLeft(t)
	job := start(t, ranksVariable(3), fixture(t, "own", "-g"), "wait")
	pid := strconv.Itoa(job.Process.Pid)
	seen := run(t, nil, built(t, "bin/tpsl"), "mem", pid).succeeded(t)
	for rank := range 3 {
		assert.Regexp(t, fmt.Sprintf(`(?m) rank %d$`, rank), seen.stdout)
	}
	where := run(t, nil, built(t, "bin/tpsl"), "where", pid)
	assert.Equal(t, 255, where.code)
	oneLine(t, where, "tpsl where", "process "+pid+" is of no job of mpiexec")
	gdb := run(t, nil, append(gdbWords(t, "info ranks"), "-p", pid)...)
	assert.Regexp(t, `(?m)^ +2 +2 +.* bound, MPI initialised +libmpich.so.12`, gdb.stdout)
	require.NoError(t, job.Process.Kill())
	_ = job.Wait() // it was killed
}

// Jobs without a launcher one after the other, from a folder of their own, leave no file.
func TestOwnJobAfterOwnJob(t *testing.T) {
	testsupport.NothingLeft(t)
	program, folder := fixture(t, "own"), t.TempDir()
	for range testsupport.Times(10, 500) {
		job := run(t, append(ranksVariable(2), "TMPDIR="+folder), program)
		require.Equal(t, own(2), job.succeeded(t).lines())
	}
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Empty(t, left)
}

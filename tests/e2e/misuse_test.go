// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// oneLine requires that stderr is one line of the given program with every text.
func oneLine(t *testing.T, job outcome, from string, texts ...string) {
	t.Helper()
	assert.Equal(t, 1, strings.Count(job.stderr, "\n"), "lines of stderr:\n%s", job.stderr)
	assert.True(t, strings.HasPrefix(job.stderr, from+": "), "a line of %s:\n%s", from, job.stderr)
	for _, text := range texts {
		assert.Contains(t, job.stderr, text)
	}
	assert.NotContains(t, job.stderr, "goroutine", "a trace of the Go runtime")
}

// Each wrong use of MPI by the threads of a process with two ranks gets one line
// that says who and what to do.
func TestMisuse(t *testing.T) {
	program := fixture(t, "misuse")
	for _, c := range []struct {
		what string
		env  []string
		code int
		from string
		says []string
	}{
		{"before_init", nil, 1, "tpsl", []string{"a thread called MPI_Comm_rank before MPI_Init", "calls MPI_Init first"}},
		{"out_of_range", nil, 1, "tpsl", []string{"tpsl: ranks 0-1 (one process): MPI_Init: slots are 0 to 1; you passed 2; slots count from 0, and a process has slot 2 under mpiexec -rpp 3 or more\n"}},
		{"all_out_of_range", nil, 1, "tpsl", []string{"tpsl: ranks 0-1 (one process): MPI_Init: slots are 0 to 1; you passed 2"}},
		{"negative", nil, 1, "tpsl", []string{"tpsl: ranks 0-1 (one process): MPI_Init: slots are 0 to 1; you passed -1; slots count from 0\n"}},
		{"claimed_twice", nil, 1, "tpsl", []string{"slot 0 (rank 0) is claimed already", "a slot of its own"}},
		{"init_twice", nil, 1, "tpsl", []string{"rank 0 (slot 0) is initialised already", "MPI_Init once"}},
		{"init_second_slot", nil, 1, "tpsl", []string{"MPI_Init: this thread owns slot 0 (rank 0) already", "a thread is one rank"}},
		{"init_as_another", nil, 1, "tpsl", []string{"MPI_Init: this thread owns slot 0 (rank 0) already"}},
		{"switch_out_of_range", nil, 1, "tpsl", []string{"ranks 0-1 (one process): TPSL_Switch: slots are 0 to 1; you passed 2"}},
		{"switch_before_init", nil, 1, "tpsl", []string{"TPSL_Switch: slot 1 (rank 1) is not initialised yet"}},
		{"switch_to_none", nil, 1, "tpsl", []string{"slot -1 is for threads without a slot of their own; this one owns slot 0 (rank 0)"}},
		{"adopt_out_of_range", nil, 1, "tpsl", []string{"ranks 0-1 (one process): TPSL_Adopt: slots are 0 to 1; you passed -1"}},
		{"adopt_before_init", nil, 1, "tpsl", []string{"TPSL_Adopt: slot 0 (rank 0) is not initialised yet"}},
		{"adopt_second_slot", nil, 1, "tpsl", []string{"TPSL_Adopt: this thread owns slot 0 (rank 0) already", "TPSL_Switch acts as another rank"}},
		{"symbol_out_of_range", nil, 1, "tpsl", []string{"ranks 0-1 (one process): TPSL_Symbol: slots are 0 to 1; you passed 2"}},
		{"symbol_before_init", nil, 1, "tpsl", []string{"TPSL_Symbol: slot 0 (rank 0) is not initialised yet"}},
		{"too_many_threads", nil, 1, "tpsl", []string{"more threads than ranks", "all 2 ranks", "larger -rpp or use fewer threads"}},
		{"too_few_threads", []string{"TPSL_INIT_TIMEOUT=2"}, 255, "tpsl", []string{"2s after the first MPI_Init", "rank 1 (slot 1)", "OMP_NUM_THREADS=2", "smaller -rpp", "then start it with -rpp 1, or build it with mpicc for private mode"}},
		{"init_after_finalize", nil, 1, "tpsl", []string{"rank 0 called MPI_Finalize before", "cannot be initialised again"}},
		{"unbound_thread", nil, 1, "tpsl", []string{"OpenMP thread ", "called MPI_Comm_rank before MPI_Init", "2 ranks"}},
		// As with Hydra, the code is the program's own.
		{"exit_without_finalize", nil, 0, "mpiexec", []string{"ranks 0-1 (one process, ", "without MPI_Finalize of ranks 0-1"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			testsupport.NothingLeft(t)
			job := mpiexec(t, c.env, "-n 2 -rpp 2", program, c.what)
			assert.Equal(t, c.code, job.code)
			assert.Empty(t, job.stdout)
			oneLine(t, job, c.from, c.says...)
		})
	}
}

// With one rank there is slot 0, and it is as uninitialised as any.
func TestMisuseOfOneRank(t *testing.T) {
	program := fixture(t, "misuse")
	for what, says := range map[string]string{
		"out_of_range":        "tpsl: rank 0: MPI_Init: the only slot is 0; you passed 2; slots count from 0, and a process has slot 2 under mpiexec -rpp 3 or more\n",
		"switch_out_of_range": "tpsl: rank 0: TPSL_Switch: the only slot is 0; you passed 2",
		"adopt_before_init":   "TPSL_Adopt: slot 0 (rank 0) is not initialised yet",
		"symbol_before_init":  "TPSL_Symbol: slot 0 (rank 0) is not initialised yet",
		"before_init":         "a thread called MPI_Comm_rank before MPI_Init",
	} {
		t.Run(what, func(t *testing.T) {
			testsupport.NothingLeft(t)
			job := mpiexec(t, nil, "-n 1", program, what)
			assert.Equal(t, 1, job.code)
			oneLine(t, job, "tpsl", says)
		})
	}
}

// The functions of tpsl.h answer in every state of a slot, pinned or not, looked at or not.
func TestAPI(t *testing.T) {
	program := fixture(t, "api")
	jobs := []string{"-n 2 -rpp 2", "-n 1"}
	if runtime.NumCPU() > 1 {
		jobs = append(jobs, "-n 2 -rpp 2 -bind-to user:0,1")
	}
	for _, options := range jobs {
		for _, env := range [][]string{nil, checking} {
			t.Run(strings.Join(append(env, options), " "), func(t *testing.T) {
				testsupport.NothingLeft(t)
				job := mpiexec(t, env, options, program).succeeded(t)
				assert.Regexp(t, `^api: [12] slots, 0 wrong\n$`, job.stdout)
			})
		}
	}
	testsupport.NothingLeft(t)
	job := mpiexec(t, nil, "-n 1", program, ":", "-n", "2", "-rpp", "2", program, "1").succeeded(t)
	assert.Equal(t, []string{"api: 1 slots, 0 wrong\n", "api: 2 slots, 0 wrong\n"}, job.lines(), "ranks that do not count from 0")
}

// A slot without a thread is reported before the job ends.
func TestTooFewThreadsNotice(t *testing.T) {
	testsupport.NothingLeft(t)
	job := mpiexec(t, []string{"TPSL_INIT_TIMEOUT=11"}, "-n 2 -rpp 2", fixture(t, "misuse"), "too_few_threads")
	assert.Equal(t, 255, job.code)
	for _, after := range []string{"10s", "11s"} {
		assert.Equal(t, 1, strings.Count(job.stderr, "tpsl: "+after+" after the first MPI_Init of this process no thread has claimed rank 1 (slot 1);"), job.stderr)
	}
}

// A crash is a death by signal as of any program, told with the rank if a rank's
// thread crashed.
func TestCrash(t *testing.T) {
	program := fixture(t, "misuse")
	const noRank = "Segmentation fault), no core\n"
	for what, ranks := range map[string]string{
		"crash":             "Segmentation fault), no core; the fault was in rank 1\n",
		"crash_before_init": noRank,
		"crash_after_query": noRank,
	} {
		t.Run(what, func(t *testing.T) {
			testsupport.NothingLeft(t)
			job := mpiexec(t, nil, "-n 2 -rpp 2", program, what)
			assert.Equal(t, 11, job.code)
			assert.Contains(t, job.stderr, ranks)
			assert.Contains(t, job.stderr, "mpiexec: ranks 0-1 (one process, ")
			assert.Contains(t, job.stderr, " were killed by SIGSEGV (11, ")
			assert.NotContains(t, job.stderr, "goroutine", "a trace of the Go runtime")
			assert.Equal(t, ranks != noRank, strings.Contains(job.stderr, "tpsl: rank 1 (slot 1, "), job.stderr)
		})
	}
}

// Signals end a program without a launcher as they end any other: the Go runtime in
// libtpsl does not show.
func TestSignals(t *testing.T) {
	testsupport.NothingLeft(t)
	program := fixture(t, "misuse")
	for _, what := range []string{"crash_before_init", "crash_after_query"} {
		assert.Equal(t, outcome{code: 128 + int(unix.SIGSEGV)}, run(t, nil, program, what), what)
	}
	script := program + " broken_pipe | head -n 1; exit ${PIPESTATUS[0]}"
	assert.Equal(t, outcome{stdout: "line\n", code: 128 + int(unix.SIGPIPE)}, run(t, nil, "bash", "-c", script))
}

// MPI_Abort by one rank ends all, and what the program has printed arrives.
func TestAbort(t *testing.T) {
	testsupport.NothingLeft(t)
	job := mpiexec(t, nil, "-n 2 -rpp 2", fixture(t, "misuse"), "abort_job")
	assert.Equal(t, 37, job.code)
	assert.Equal(t, "buffered, not lost", job.stdout)
	assert.Contains(t, job.stderr, "rank 1", "MPICH's own line")
	assert.NotContains(t, job.stderr, "tpsl:")
	assert.NotContains(t, job.stderr, "mpiexec:")
}

// A process that a launcher has started as one rank is one rank, however many threads it has. They pass their numbers, or nothing.
func TestMoreThreadsThanOneRank(t *testing.T) {
	testsupport.NothingLeft(t)
	const help = `start it with mpiexec -rpp 4 or more, or set OMP_NUM_THREADS=1\n$`
	for program, says := range map[string]string{
		example(t, "listing1"):       `^tpsl: rank 0: MPI_Init: the only slot is 0; you passed [1-3]; ` + help,
		fixture(t, "sends", "-DTWO"): `^tpsl: rank 0: MPI_Init: OpenMP thread [1-3] has no slot, as this process has 1 rank; ` + help,
	} {
		job := mpiexec(t, []string{"OMP_NUM_THREADS=4"}, "-n 1", program)
		assert.Equal(t, 1, job.code)
		oneLine(t, job, "tpsl")
		assert.Regexp(t, says, job.stderr)
	}
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/mem"
	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/pagetables"
)

// runs is a program that is no MPI program and calls TPSL_Run.
func runs(t *testing.T) string {
	t.Helper()
	return testsupport.CC(t, "tpslcc", "testdata/runs.c", "-O2", "-g")
}

// A program runs ranks within a call: with several numbers, again and again, from several threads, and with all options. A launcher of
// the process has no part in it, nor have the settings for ranks of a launcher.
func TestRun(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, env := range [][]string{nil, {"TPSL_CHECK=1"}, {"TPSL_VERIFY=1"}, {"TPSL_COLLECTIVES=memory", "TPSL_WINDOWS=memory"}, {"TPSL_PROGRESS=neighbours"}, {"TPSL_YIELD=always"}, {"TPSL_RANKS=7"}} {
		assert.Equal(t, "values are right\n", run(t, env, runs(t), "values").succeeded(t).stdout, "%v", env)
	}
	for _, options := range []string{"-n 2", "-n 2 -state"} {
		job := mpiexec(t, nil, options, runs(t), "values").succeeded(t)
		assert.Equal(t, []string{"values are right\n", "values are right\n"}, job.lines(), options)
	}
}

// A program may have a rank of its own beside the jobs that other threads run. Settings that stand in front of the MPI library for several
// ranks only are not that rank's.
func TestRunBesideARank(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, setting := range []string{"TPSL_COLLECTIVES=library", "TPSL_COLLECTIVES=memory", "TPSL_WINDOWS=memory", "TPSL_PROGRESS=neighbours", "TPSL_CHECK=1"} {
		assert.Equal(t, "beside\n", run(t, []string{setting}, runs(t), "beside_rank").succeeded(t).stdout, setting)
	}
}

// Libraries that keep what belongs to a rank are each rank's own in each job.
func TestRunOfHDF5(t *testing.T) {
	testsupport.NothingLeft(t)
	program := testsupport.CC(t, "tpslcc", "testdata/runhdf5.c", "-I/usr/include/hdf5/mpich", "-lhdf5_mpich")
	job := run(t, nil, program, filepath.Join(t.TempDir(), "file.h5")).succeeded(t)
	assert.Equal(t, "1 ranks: 0\n2 ranks: 0\n3 ranks: 0\n4 ranks: 0\n", job.stdout)
}

// tpsl mem shows the ranks of the jobs that run, by the calls of TPSL_Run: of two at a time, of one, whose ranks have not all of the
// process, and of none.
func TestRunIsSeen(t *testing.T) {
	testsupport.NothingLeft(t)
	for jobs, want := range [][]pagetables.Rank{nil, {{Rank: 0, Job: 2}}, {{Rank: 0, Job: 2}, {Rank: 0, Job: 3}, {Rank: 1, Job: 3}}} {
		job := start(t, nil, runs(t), "seen", fmt.Sprint(jobs))
		for range jobs { // ready are the program and each job
			line, err := job.out.ReadString('\n')
			require.NoError(t, err)
			require.Equal(t, "ready\n", line)
		}
		pid := fmt.Sprint(job.Process.Pid)
		seen := run(t, nil, built(t, "bin/tpsl"), "mem", pid, "-by", "object", "-json")
		if jobs == 0 {
			assert.Equal(t, 1, seen.code)
			oneLine(t, seen, "tpsl mem", "process "+pid+" (runs): it is no MPI rank now: its calls of TPSL_Run have returned")
		} else {
			hasJobs(t, seen.succeeded(t).stdout, want)
		}
		for _, command := range []string{"where", "top"} {
			refused := run(t, nil, built(t, "bin/tpsl"), command, pid)
			assert.Equal(t, 255, refused.code)
			oneLine(t, refused, "tpsl "+command, "process "+pid+" is of no job of mpiexec")
		}
		require.NoError(t, job.Process.Kill())
		_ = job.Wait() // it was killed
	}
}

// A reader gets true answers while jobs begin and end: ranks of a job, that there are none now, or that they moved.
func TestRunIsSeenMoving(t *testing.T) {
	testsupport.NothingLeft(t)
	job := start(t, nil, runs(t), "seen", "-1")
	ranks := 0
	for deadline := time.Now().Add(limit / 2); ranks == 0 && time.Now().Before(deadline); {
		for range 20 {
			all, errs := pagetables.Proc("/proc").Job([]int{job.Process.Pid})
			for _, err := range errs {
				assert.ErrorContains(t, err, "it is no MPI rank now: its calls of TPSL_Run have returned")
			}
			for _, process := range all {
				for _, lack := range process.Partial {
					assert.Contains(t, lack, "jobs began or ended")
				}
				if len(process.Partial) == 0 {
					hasRanksOf(t, process)
					ranks += len(process.Ranks)
				}
			}
		}
	}
	assert.NotZero(t, ranks)
	require.NoError(t, job.stdin.Close()) // a rank that is killed before it has initialised MPI may leave a file
	require.NoError(t, job.Wait())
}

// hasRanksOf requires the three ranks of one job.
func hasRanksOf(t *testing.T, process *pagetables.Process) {
	t.Helper()
	require.Len(t, process.Ranks, 3)
	for i, rank := range process.Ranks {
		assert.Equal(t, i, rank.Rank)
		assert.Equal(t, process.Ranks[0].Job, rank.Job)
		assert.Greater(t, rank.Job, 1)
	}
}

// hasJobs requires these ranks, each with an MPI library and a stack of its own, and a process that has more beside.
func hasJobs(t *testing.T, text string, want []pagetables.Rank) {
	t.Helper()
	var report mem.Report
	require.NoError(t, json.Unmarshal([]byte(text), &report))
	require.Len(t, report.Processes, 1)
	var ranks []pagetables.Rank
	private := map[string]uint64{}
	for _, rank := range report.Processes[0].Ranks {
		assert.NotZero(t, rank.Thread)
		rank.Thread = 0
		ranks = append(ranks, rank)
	}
	for _, row := range report.Processes[0].Rows {
		private[row.Owner.String()+" "+row.Object] += row.Anonymous
	}
	// The calls of two threads may come in any order.
	require.Len(t, ranks, len(want))
	if len(want) == 3 && ranks[1].Job == 2 {
		want = []pagetables.Rank{{Rank: 0, Job: 2}, {Rank: 1, Job: 2}, {Rank: 0, Job: 3}}
	}
	assert.Equal(t, want, ranks)
	for _, rank := range ranks {
		name := "rank " + pagetables.RankName(rank.Rank, rank.Job)
		assert.Positive(t, private[name+" "+mappedMPICH(t)], name)
		assert.Positive(t, private[name+" stack"], name)
	}
	assert.Positive(t, private["process [heap]"])
}

// A program that is killed while it has ranks leaves nothing, and gdb shows them.
func TestRunKilled(t *testing.T) {
	testsupport.NothingLeft(t)
	job := start(t, nil, runs(t), "wait")
	gdb := run(t, nil, append(gdbWords(t, "info ranks", "rank 1 of job 1"), "-p", fmt.Sprint(job.Process.Pid))...)
	for rank := range 2 {
		assert.Regexp(t, fmt.Sprintf(`(?m)^[ *]+%d of job 1 +%d +.* bound, MPI initialised +libmpich.so.12`, rank, rank), gdb.stdout)
	}
	assert.Contains(t, gdb.stdout, "[Switching to thread ")
	require.NoError(t, job.Process.Kill())
	_ = job.Wait() // it was killed
}

// Two jobs at a time pass many messages a rank each. Each message says which job it is of. TPSL_TEST_LARGE=1 makes them 10^5.
func TestRunTwoAtOnce(t *testing.T) {
	testsupport.NothingLeft(t)
	messages := fmt.Sprint(testsupport.Times(10_000, 100_000))
	for _, env := range [][]string{nil, {"TPSL_COLLECTIVES=memory"}, {"TPSL_PROGRESS=neighbours"}} {
		job := run(t, env, runs(t), "at_once", messages).succeeded(t)
		assert.Equal(t, "two jobs passed "+messages+" messages a rank each\n", job.stdout, "%v", env)
	}
}

// At most 8 kB of memory stay of a rank and job. Descriptors, mappings, threads and files in /dev/shm do not grow with the number of jobs.
// TPSL_TEST_LARGE=1 runs 1,000 jobs. The program has a /dev/shm of its own, as other tests make files in the machine's meanwhile.
func TestRunMany(t *testing.T) {
	testsupport.Require(t, "unshare")
	testsupport.NothingLeft(t)
	jobs := testsupport.Times(100, 1000)
	const alone = `mount -t tmpfs none /dev/shm; exec "$@"`
	job := runFor(t, 10*time.Minute, nil, "unshare", "--mount", "sh", "-ec", alone, "sh", runs(t), "many", fmt.Sprint(jobs)).succeeded(t)
	var n, files, maps, threads, shm, kB, bytes int
	_, err := fmt.Sscanf(job.stdout, "jobs %d files %d maps %d threads %d shm %d kB %d bytes %d", &n, &files, &maps, &threads, &shm, &kB, &bytes)
	require.NoError(t, err, job.stdout)
	t.Logf("%d bytes stay of each rank and job", bytes)
	assert.Equal(t, jobs, n)
	assert.LessOrEqual(t, bytes, 8<<10)
	assert.LessOrEqual(t, files, 0)
	assert.LessOrEqual(t, shm, 0)
	// The Go runtime may start a thread more at any time, and a thread has a stack, its guard and a heap.
	assert.LessOrEqual(t, threads, 2)
	assert.LessOrEqual(t, maps, 16)
}

// Where the limit of stacks makes those of new threads small, threads of ranks have what MPI libraries need.
func TestRunSmallStacks(t *testing.T) {
	testsupport.NothingLeft(t)
	run(t, nil, "prlimit", "--stack=65536", runs(t), "default_stack").succeeded(t)
}

// What a child made by fork must not do ends it with this line.
const childEnds = "TPSL_Run: the end of the function: this process is a child made by fork, and the threads of libtpsl are in its parent: end the child by _exit within the function, or let it exec a program"

// Each wrong use ends the process, or the child that it is in, with one line.
func TestRunMisuse(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, c := range []struct {
		words []string
		code  int
		says  []string
	}{
		{[]string{"nested"}, 1, []string{"TPSL_Run: the calling thread is rank ", "already: call it from a thread that is no rank"}},
		{[]string{"from_rank"}, 1, []string{"TPSL_Run: the calling thread is rank 0 (slot 0) already"}},
		{[]string{"init"}, 1, []string{"is initialised already"}},
		{[]string{"ranks", "0"}, 1, []string{"TPSL_Run: 0 ranks: want 1 or more"}},
		{[]string{"ranks", "-1"}, 1, []string{"TPSL_Run: -1 ranks: want 1 or more"}},
		{[]string{"ranks", "5000000"}, 1, []string{"5000000 ranks need about ", "vm.max_map_count", "use a smaller number of ranks"}},
		{[]string{"no_function"}, 1, []string{"TPSL_Run: there is no function to run"}},
		{[]string{"options", "0"}, 1, []string{"TPSL_Run: options.size is 0", "set it to sizeof(struct TPSL_Options)"}},
		{[]string{"options", "4"}, 1, []string{"TPSL_Run: options.size is 4: set it to sizeof(struct TPSL_Options), which this libtpsl knows as 32"}},
		{[]string{"options", "1000"}, 1, []string{"TPSL_Run: options.size is 1000"}},
		{[]string{"level", "77"}, 1, []string{"TPSL_Run: options.thread_level is 77: want MPI_THREAD_SINGLE, "}},
		{[]string{"level", "-1"}, 1, []string{"TPSL_Run: options.thread_level is -1: want MPI_THREAD_SINGLE, "}},
		{[]string{"cpus"}, 1, []string{`TPSL_Run: the CPUs are "0;0;0", which are lists for 3 ranks, and the job has 2`}},
		{[]string{"cpus", ""}, 1, []string{`TPSL_Run: the CPUs are "", which are a list for 1 rank, and the job has 2`}},
		{[]string{"cpus", "0;x"}, 1, []string{`TPSL_Run: the CPUs of rank 1 are "x": want numbers and ranges, as in 0-1,4`}},
		{[]string{"cpus", "0;0,1-"}, 1, []string{`TPSL_Run: the CPUs of rank 1 are "0,1-": want numbers and ranges, as in 0-1,4`}},
		{[]string{"cpus", "0-4000;0"}, 1, []string{`TPSL_Run: rank 0 is to run on CPU `, `, which this process may not use: `}},
		{[]string{"stack"}, 1, []string{"TPSL_Run: make the thread of rank 0 of 2 with a stack of 1000000000000000 bytes: ", "; use a smaller options.stack"}},
		{[]string{"caller"}, 1, []string{"TPSL_Run: options.caller is 2: want 0 or 1"}},
		{[]string{"child"}, 1, []string{"TPSL_Run: this process is a child made by fork, and the threads of libtpsl are in its parent: let it exec a program, or make the call in the parent"}},
		{[]string{"child_returns"}, 11, []string{childEnds}},
		{[]string{"child_pthread_exit"}, 11, []string{childEnds}},
		{[]string{"pthread_exit"}, 1, []string{"TPSL_Run: the function ended the thread of rank 1, as pthread_exit does: let it return"}},
		{[]string{"exit"}, 3, []string{"rank 1 ends the process before its MPI_Finalize, by exit or by the return from main: all 2 ranks of the job end"}},
	} {
		job := run(t, nil, append([]string{runs(t)}, c.words...)...)
		assert.Equal(t, c.code, job.code, c.words)
		oneLine(t, job, "tpsl", c.says...)
	}
}

// What ends the program that has the ranks, and says so.
func TestRunEnds(t *testing.T) {
	testsupport.NothingLeft(t)
	job := run(t, nil, "/bin/sh", "-c", `"$0" crash; exit $?`, runs(t))
	assert.Equal(t, 128+int(unix.SIGSEGV), job.code)
	assert.Contains(t, job.stderr, "tpsl: rank 1 (slot 1, thread ")
	job = run(t, nil, runs(t), "abort")
	assert.Equal(t, 7, job.code)
	assert.Contains(t, job.stderr, "MPI_Abort(MPI_COMM_WORLD, 7) - process 1")
	assert.NotContains(t, job.stderr, "tpsl:")

	throws := testsupport.CC(t, "tpslcxx", "testdata/runthrows.cc", "-O2")
	job = run(t, nil, throws)
	assert.Equal(t, 1, job.code)
	assert.Equal(t, "caught\n", job.stdout)
	oneLine(t, job, "tpsl", "TPSL_Run: the function of rank 1 threw an exception that it did not catch: catch it there, and return a result")
	over := run(t, nil, testsupport.CC(t, "tpslcxx", "testdata/runcomm.cc", "-O2")).succeeded(t)
	assert.Equal(t, "over\nover\n", over.stdout)
	job = run(t, nil, throws, "child")
	assert.Equal(t, 11, job.code)
	oneLine(t, job, "tpsl", childEnds)
}

// The program's handler of a signal is called once, stays when the job ends, and may jump to where its thread was before; MPICH has one
// of SIGUSR1, and UCX would have one of SIGHUP.
func TestRunSignals(t *testing.T) {
	testsupport.NothingLeft(t)
	program := testsupport.CC(t, "tpslcc", "testdata/runsignals.c", "-O2")
	for _, word := range []string{"jumps", "installs", "beside", "hangup"} {
		t.Run(word, func(t *testing.T) {
			assert.Equal(t, "right\n", run(t, nil, program, word).succeeded(t).stdout)
		})
	}
}

// A program whose calls of MPI lead to a library that ld.so has loaded has no ranks there.
func TestRunBesideAnMPILibrary(t *testing.T) {
	program := testsupport.CC(t, "mpicc.mpich", "testdata/loaded.c", "-O2")
	job := run(t, nil, program, built(t, "lib/libtpsl.so.0"))
	assert.Equal(t, 1, job.code)
	oneLine(t, job, "tpsl", "TPSL_Run: the program has loaded ", "/libmpich.so.12 itself", "link it by tpslcc, or load lib/tpsl/libmpich.so.12 first")
}

// An MPI library that speaks PMIx cannot serve ranks of TPSL_Run.
func TestRunOfPMIx(t *testing.T) {
	pmix := standardLibrary(t, "-DOPEN_MPI")
	job := run(t, []string{"TPSL_MPI_LIBRARY=" + pmix}, standardProgram(t), "run")
	assert.Equal(t, 1, job.code)
	oneLine(t, job, "tpsl", pmix+" speaks PMIx (Open MPI), and a job without mpiexec serves PMI to its ranks")
}

// AddressSanitizer finds no wrong access to memory while jobs begin and end. What MPI libraries have not freed when they go is theirs.
func TestRunAddressSanitizer(t *testing.T) {
	testsupport.NothingLeft(t)
	program := testsupport.CC(t, "tpslcc", "testdata/runs.c", "-fsanitize=address", "-g", "-O1")
	assert.Equal(t, "values are right\n", run(t, []string{"ASAN_OPTIONS=detect_leaks=0"}, program, "values").succeeded(t).stdout)
}

// The solver of an application finds what it finds under mpiexec, to the last bit, on as many ranks.
func TestSolverInApplication(t *testing.T) {
	testsupport.NothingLeft(t)
	const folder = "../../examples/solver/"
	object := filepath.Join(t.TempDir(), "poisson.o")
	run(t, nil, built(t, "bin/tpslcc"), "-O2", "-c", folder+"poisson.c", "-o", object).succeeded(t)
	application := testsupport.CC(t, "tpslcxx", folder+"application.cc", object, "-O2")
	flat := testsupport.CC(t, "mpicc.mpich", folder+"flat.c", folder+"poisson.c", "-O2", "-lm")
	var input, want []string
	for _, c := range [][2]string{{"40", "1"}, {"40", "2"}, {"12", "4"}, {"40", "1"}} { // flat ranks that share a core wait for it long
		input = append(input, c[0]+" "+c[1])
		want = append(want, untimed(mpiexec(t, nil, "-n "+c[1], flat, c[0]).succeeded(t).stdout))
	}
	got := run(t, nil, "sh", "-c", `printf '%s\n' "$2" | "$1"`, "sh", application, strings.Join(input, "\n")).succeeded(t)
	assert.Equal(t, strings.Join(want, ""), untimed(got.stdout))
	assert.Contains(t, got.stdout, "edge 40, 2 ranks: ")

	for _, line := range []string{"", "40", "40 0", "3 4", "40 two"} {
		refused := run(t, nil, "sh", "-c", `printf '%s\n' "$2" | "$1"`, "sh", application, line)
		assert.Equal(t, 1, refused.code)
		assert.Equal(t, "application: "+line+": want two numbers, EDGE RANKS, with EDGE >= RANKS >= 1\n", refused.stderr)
	}
}

func untimed(text string) string {
	return regexp.MustCompile(`, [0-9.]+ s\n`).ReplaceAllString(text, "\n")
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// hydra runs a job of the real mpiexec.hydra.
func hydra(t *testing.T, env []string, options string, program ...string) outcome {
	t.Helper()
	return run(t, env, slices.Concat(testsupport.Hydra(t), strings.Fields(options), program)...)
}

// shared is a program under tpsl run, as a launcher of others starts it.
func shared(t *testing.T, options string, program ...string) []string {
	t.Helper()
	return slices.Concat([]string{built(t, "bin/tpsl"), "run"}, strings.Fields(options), program)
}

// oneThread is for flat programs of examples, which would call MPI_Init in each thread.
var oneThread = []string{"OMP_NUM_THREADS=1"}

// greetings requires that each of so many ranks has said hello once, and returns the labels and processes of each rank.
func greetings(t *testing.T, job outcome, ranks int) (labels, processes []string) {
	t.Helper()
	job.succeeded(t)
	labels, processes = make([]string, ranks), make([]string, ranks)
	for rank := range ranks {
		line := regexp.MustCompile(fmt.Sprintf(`(?m)^(?:\[?(\d+)[\]:] )?hello from rank %d of %d: thread \d+ of process (\d+)$`, rank, ranks))
		found := line.FindAllStringSubmatch(job.stdout, -1)
		require.Len(t, found, 1, "rank %d in:\n%s", rank, job.stdout)
		labels[rank], processes[rank] = found[0][1], found[0][2]
	}
	require.Len(t, job.lines(), ranks)
	return labels, processes
}

// Ranks that mpiexec.hydra, or our mpiexec, has started one by one share processes in either mode. Hydra's labels are
// each rank's own in private mode.
func TestForeignHello(t *testing.T) {
	testsupport.NothingLeft(t)
	threads, hello := example(t, "hello"), flat(t, "../../examples/hello.c")
	for _, options := range []string{"-l -n 3", "-l -n 4 -pmi-port", "-l -launcher fork -hosts a:2,b:2", "-l -launcher fork -hosts a,b,a,b"} {
		t.Run(options, func(t *testing.T) {
			ranks, own := 4, []string{"0", "1", "2", "3"}
			if strings.Contains(options, "-n 3") {
				ranks, own = 3, own[:3]
			}
			labels, processes := greetings(t, hydra(t, oneThread, options, shared(t, "-rpp 2", hello)...), ranks)
			assert.Equal(t, own, labels)
			assert.Len(t, slices.Compact(slices.Sorted(slices.Values(processes))), ranks)
			if strings.Contains(options, "a,b,a,b") {
				return // four nodes of one rank
			}
			labels, processes = greetings(t, hydra(t, nil, options, shared(t, "-rpp 2", threads)...), ranks)
			assert.Equal(t, []string{"0", "0", "2", "2"}[:ranks], labels)
			assert.Equal(t, processes[0], processes[1])
			assert.NotEqual(t, processes[0], processes[2])
		})
	}
	for _, program := range []string{hello, threads} {
		one := map[bool][]string{program == hello: oneThread}[true]
		greetings(t, mpiexec(t, one, "-n 4", shared(t, "-rpp 4", program)...), 4)
		greetings(t, hydra(t, one, "-n 1", shared(t, "-rpp 4", program)...), 1)
	}
	greetings(t, hydra(t, oneThread, "-n 2", shared(t, "-rpp 1", hello)...), 2)
}

// The answers are flat's.
func TestForeignHalo(t *testing.T) {
	testsupport.NothingLeft(t)
	program, threads := flat(t, "../../examples/halo.c"), example(t, "halo")
	want := checksum(t, hydra(t, oneThread, "-n 4", program), "4 processes x 1 thread rank,")
	assert.Equal(t, want, checksum(t, hydra(t, oneThread, "-n 4", shared(t, "-rpp 4", program)...), "4 processes x 1 thread rank,"))
	assert.Equal(t, want, checksum(t, hydra(t, nil, "-n 4", shared(t, "-rpp 2", threads)...), "2 processes x 2 thread ranks"))
}

// Each way for a rank to end gives with Hydra what it gives flat: in private mode the launcher sees each rank's own end.
func TestForeignEnds(t *testing.T) {
	crash := regexp.MustCompile(`(?m)^tpsl: rank 1 .*\n|^tpsl:   #.*\n`) // is what private mode says more
	program := plain(t, "mpicc.mpich", "alone.c")
	for _, end := range []string{"exit", "errx", "crash", "abort"} {
		t.Run(end, func(t *testing.T) {
			testsupport.NothingLeft(t)
			files := func(program ...string) (job outcome, texts []string) {
				pattern := t.TempDir() + "/"
				options := fmt.Sprintf("-n 2 -outfile-pattern %sout%%r -errfile-pattern %serr%%r", pattern, pattern)
				job = hydra(t, []string{"UCX_HANDLE_ERRORS=none"}, options, append(program, end)...)
				for _, file := range []string{"out0", "out1", "err0", "err1"} { // errx writes its line in parts
					text, err := os.ReadFile(pattern + file)
					require.True(t, err == nil || os.IsNotExist(err), err) // Hydra makes none for a rank that says nothing
					texts = append(texts, crash.ReplaceAllString(string(text), ""))
				}
				return job, texts
			}
			want, wantTexts := files(program)
			got, gotTexts := files(shared(t, "-rpp 2", program)...)
			if end == "crash" || end == "abort" { // Hydra kills rank 0, and now and then its 9 is in the code
				want.code, got.code = want.code|9, got.code|9
			}
			assert.Equal(t, want.code, got.code, got.stdout)
			assert.Equal(t, inAnyOrder(want.stderr), inAnyOrder(got.stderr))
			assert.Equal(t, wantTexts, gotTexts)
		})
	}
	for _, end := range []string{"early", "mpi_abort"} { // under Hydra code and words are now and then others
		t.Run(end, func(t *testing.T) {
			testsupport.NothingLeft(t)
			want, got := mpiexec(t, nil, "-l -n 2", program, end), mpiexec(t, nil, "-l -n 2", shared(t, "-rpp 2", program, end)...)
			assert.Equal(t, want.code, got.code)
			assert.Equal(t, want.lines(), got.lines())
		})
	}
}

// The end of a process that ranks share is that of all of them, and what the launcher cannot know is said.
func TestForeignCrash(t *testing.T) {
	testsupport.NothingLeft(t)
	job := hydra(t, nil, "-n 2", shared(t, "-rpp 2", crasher(t), "divide")...)
	assert.Equal(t, 8|9, job.code|9) // Hydra may see one end first and kill the other
	assert.Contains(t, job.stderr, "tpsl run: the process of ranks 0,1 was ended by SIGFPE; the fault was in rank 1\n")
}

// The launcher's signals reach each rank once in private mode, and the process of all ranks once in shared mode.
func TestForeignSignal(t *testing.T) {
	testsupport.NothingLeft(t)
	const script = `"$@" & until [ -e "$READY" ]; do sleep 0.02; done; kill -$SIGNAL $!; wait $!`
	signalled := func(name, ready string, program ...string) outcome {
		return run(t, []string{"SIGNAL=" + name, "READY=" + ready}, slices.Concat([]string{"sh", "-c", script, "sh"}, testsupport.Hydra(t), []string{"-n", "2"}, program)...)
	}
	ready := filepath.Join(t.TempDir(), "ready")
	job := signalled("USR1", ready, shared(t, "-rpp 2", plain(t, "mpicc.mpich", "peek.c"), ready)...).succeeded(t)
	assert.Equal(t, []string{"rank 0 caught SIGUSR1\n", "rank 1 caught SIGUSR1\n", "rank 1 reads 42\n"}, job.lines())

	ready = filepath.Join(t.TempDir(), "ready")
	job = signalled("TERM", ready, shared(t, "-rpp 2 -tpsl shared", "/bin/bash", "-c", "trap 'echo caught; exit 5' TERM; >$READY; while :; do sleep 0.1; done")...)
	assert.Equal(t, "caught\n", job.stdout) // what code Hydra makes of such an end is chance: TestForeignDeaths has the codes
}

// Ranks end with the launcher's proxy, which as Hydra's own processes they survive.
func TestForeignProxyKilled(t *testing.T) {
	testsupport.NothingLeft(t)
	testsupport.Require(t, "pkill")
	ready := filepath.Join(t.TempDir(), "ready")
	const script = `"$@" & until [ -e "$READY" ]; do sleep 0.02; done; pkill -KILL -P $!; wait $!`
	program := shared(t, "-rpp 2 -tpsl private", "/bin/bash", "-c", "[ $PMI_RANK = 0 ] || >$READY; while :; do sleep 0.1; done")
	job := run(t, []string{"READY=" + ready}, slices.Concat([]string{"sh", "-c", script, "sh"}, testsupport.Hydra(t), []string{"-n", "2"}, program)...)
	assert.Equal(t, 255, job.code)
}

// Errors are one line that names a rank and what to do, and they end the job.
func TestForeignErrors(t *testing.T) {
	testsupport.NothingLeft(t)
	hello, threads := flat(t, "../../examples/hello.c"), example(t, "hello")
	for _, c := range []struct{ ranks, options, program, more, stderr string }{
		{"-n 2", "-rpp 2", "/nowhere", "", `tpsl run: rank 0: cannot run /nowhere on \S+: no such file or directory`},
		{"-n 2", "-rpp 2", "/bin/true", "", `tpsl run: rank 0: cannot run /bin/true on \S+: -rpp 2 needs a program linked with libtpsl, MPICH or Open MPI; .*`},
		{"-n 2 sleep 60 : -n 1", "-rpp 2 -wait 1", hello, ": -n 1 sleep 60", `tpsl run: rank 2: of the 4 ranks of this host, counted from 0, number 3 has not come for 1s; start all ranks with the same tpsl run -rpp 2`},
		{"-n 3", "-rpp 2", hello, ": -n 1 " + strings.Join(shared(t, "-rpp 2", threads), " "), `tpsl run: rank 2: ranks 2 and 3 would share a process, but one runs .*hello and the other .*hello; give each program a multiple of -rpp ranks per host`},
	} {
		job := hydra(t, oneThread, c.ranks, append(shared(t, c.options, c.program), strings.Fields(c.more)...)...)
		assert.Equal(t, 255, job.code)
		assert.Regexp(t, `^`+c.stderr+`\n$`, job.stderr)
	}
	for _, c := range []struct{ env, stderr string }{
		{"PMIX_NAMESPACE=a OMPI_COMM_WORLD_SIZE=2 PMIX_RANK=0,1", "PMIX_RANK=0,1 is a rank set already; leave tpsl run or the launcher's -rpp out"},
		{"SLURM_STEP_NUM_TASKS=2", "this is one of 2 tasks, but the launcher offers no PMI; start with srun --mpi=pmi2 or --mpi=pmix"},
		{"PMI_FD=0 PMI_RANK=0 PMI_SIZE=2", "PMI_FD=0 is not a launcher's socket (socket operation on non-socket); unset PMI_FD to start without one"},
		{"PMI_FD=3,4 PMI_RANK=0,1 PMI_SIZE=2", "PMI_FD=3,4 is a rank set already; leave tpsl run or the launcher's -rpp out"},
		{"PMI_FD=3 PMI_RANK=x PMI_SIZE=2", `PMI_RANK="x": want a number from 0, as launchers set it`},
	} {
		job := run(t, strings.Fields(c.env), shared(t, "-rpp 2", hello)...)
		assert.Equal(t, outcome{stderr: "tpsl run: " + c.stderr + "\n", code: 255}, job)
	}
}

// The CPUs that the launcher has bound each rank to stay that rank's.
func TestForeignBinding(t *testing.T) {
	testsupport.NothingLeft(t)
	if runtime.NumCPU() < 2 {
		testsupport.Unable(t, "binding two ranks takes two CPUs")
	}
	job := hydra(t, nil, "-bind-to user:1,0 -n 2", shared(t, "-rpp 2", fixture(t, "pin"))...).succeeded(t)
	assert.Equal(t, []string{"again rank 0: 1\n", "again rank 1: 0\n", "first rank 0: 1\n", "first rank 1: 0\n"}, job.lines())
	job = hydra(t, nil, "-l -bind-to user:1,0 -n 2", shared(t, "-rpp 2 -tpsl private", "/bin/grep", "Cpus_allowed_list", "/proc/self/status")...).succeeded(t)
	assert.Equal(t, []string{"[0] Cpus_allowed_list:\t1\n", "[1] Cpus_allowed_list:\t0\n"}, job.lines())
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// traced is what tpsl trace -json prints.
type traced struct {
	Seconds float64
	Absent  []string
	Ranks   []struct {
		PID, Rank int
		Counts    map[string]uint64
	}
	Threads []struct{ PID, Rank, Thread int }
	Faults  []struct {
		Rank   int
		Object string
	}
	Lost uint64
}

// traceJob runs tpsl trace on a job and returns what it says on stdout and stderr.
func traceJob(t *testing.T, job *background, before ...string) (traced, string) {
	t.Helper()
	argv := append(slices.Clone(before), built(t, "bin/tpsl"), "trace", "-json", "-for", "700ms", "-every", "100ms", fmt.Sprint(job.Process.Pid))
	stdout, stderr, code, err := testsupport.Output(limit, nil, argv...)
	require.NoError(t, err)
	require.Zero(t, code, stderr)
	var said traced
	require.NoError(t, json.Unmarshal([]byte(stdout), &said))
	return said, stderr
}

func (s traced) of(rank int) (all []map[string]uint64) {
	for _, r := range s.Ranks {
		if r.Rank == rank {
			all = append(all, r.Counts)
		}
	}
	return all
}

// Threads that share a rank wait for one another's lock; those that are ranks do not.
func TestTrace(t *testing.T) {
	testsupport.NothingLeft(t)
	t.Run("threads", func(t *testing.T) {
		program := testsupport.CC(t, "mpicc.mpich", "testdata/faces.c", "-O2", "-fopenmp")
		job := start(t, nil, built(t, "bin/mpiexec"), "-n", "2", program, "threads", "100")
		var said traced
		var waits, waited [2]uint64
		for waits[0] <= 50 || waits[1] <= 50 { // on a busy machine the threads of a rank rarely run at the same time
			said, _ = traceJob(t, job)
			require.Len(t, said.Ranks, 2, "a process is a rank")
			for rank := range waits {
				counts := said.of(rank)
				require.Len(t, counts, 1)
				waits[rank] += counts[0]["futex_waits"]
				waited[rank] += counts[0]["futex_wait_ns"]
			}
		}
		assert.Positive(t, waited[0])
		assert.Positive(t, waited[1])
		assert.GreaterOrEqual(t, len(said.Threads), 4)
	})
	t.Run("ranks", func(t *testing.T) {
		program := testsupport.CC(t, built(t, "bin/tpslcc"), "testdata/faces.c", "-O2", "-fopenmp")
		job := start(t, nil, built(t, "bin/mpiexec"), "-n", "2", "-rpp", "2", program, "ranks", "20")
		said, stderr := traceJob(t, job)
		assert.Empty(t, stderr)
		assert.Empty(t, said.Absent)
		assert.Zero(t, said.Lost)
		for rank := range 2 {
			counts := said.of(rank)
			require.Len(t, counts, 1)
			assert.Less(t, counts[0]["futex_waits"], uint64(5), "nothing to wait for")
			assert.Less(t, counts[0]["off_cpu_ns"], uint64(said.Seconds*1.05e9), "of one thread")
		}
		assert.Len(t, said.of(-1), 1, "the runtime's own threads are no rank's")

		without := []string{"setpriv", "--bounding-set", "-bpf,-perfmon,-sys_admin"}
		said, stderr = traceJob(t, job, without...)
		assert.Equal(t, "tpsl trace: counting in the kernel takes CAP_BPF and CAP_PERFMON: run it as root (in a container: "+
			"--cap-add BPF --cap-add PERFMON); /proc lacks SYSCALLS, FUTEX, %FUTEX, MIGR\n", stderr)
		assert.Equal(t, []string{"syscalls", "futex_waits", "futex_wait_ns", "migrations"}, said.Absent)
		require.Len(t, said.of(0), 1)
		assert.Contains(t, said.of(0)[0], "involuntary_switches")
		assert.NotContains(t, said.of(0)[0], "syscalls")
	})
	t.Run("private", func(t *testing.T) {
		program := testsupport.CC(t, "mpicc.mpich", "testdata/faces.c", "-O2", "-fopenmp")
		said, _ := traceJob(t, start(t, []string{"OMP_NUM_THREADS=1"}, built(t, "bin/mpiexec"), "-n", "2", "-rpp", "2", program, "ranks", "20"))
		for rank := range 2 {
			require.Len(t, said.of(rank), 1)
			assert.Less(t, said.of(rank)[0]["futex_waits"], uint64(5))
		}
	})
}

// The thread of a rank may end, and another one adopt the rank. The other rank has its own thread only.
func TestTraceWithoutThread(t *testing.T) {
	testsupport.NothingLeft(t)
	program := testsupport.CC(t, built(t, "bin/tpslcc"), "testdata/gone.c", "-pthread")
	said, stderr := traceJob(t, start(t, nil, built(t, "bin/mpiexec"), "-n", "2", "-rpp", "2", program))
	assert.Empty(t, stderr)
	ranks := append(said.of(0), said.of(1)...)
	require.Len(t, ranks, 1)
	assert.Greater(t, ranks[0]["off_cpu_ns"], uint64(690e6), "it sleeps, from before those 700 ms until after them")
	require.Len(t, said.of(-1), 1)
	owned := slices.DeleteFunc(said.Threads, func(thread struct{ PID, Rank, Thread int }) bool { return thread.Rank < 0 })
	assert.Len(t, owned, 1)
}

// Without privilege faults have no objects, which is said at once.
func TestTraceObjectsWithoutPrivilege(t *testing.T) {
	testsupport.NothingLeft(t)
	program := testsupport.CC(t, "mpicc.mpich", "testdata/faces.c", "-O2", "-fopenmp")
	job := start(t, []string{"OMP_NUM_THREADS=1"}, built(t, "bin/mpiexec"), "-n", "2", program, "ranks", "20")
	_, stderr, code, err := testsupport.Output(limit, nil, "setpriv", "--bounding-set", "-bpf,-perfmon,-sys_admin",
		built(t, "bin/tpsl"), "trace", "-by", "object", "-for", "1h", fmt.Sprint(job.Process.Pid))
	require.NoError(t, err)
	assert.Equal(t, 1, code)
	assert.Equal(t, "tpsl trace: -by object: counting in the kernel takes CAP_BPF and CAP_PERFMON: "+
		"run it as root (in a container: --cap-add BPF --cap-add PERFMON)\n", stderr)
}

// It ends with the job that it looks at, and says what that did.
func TestTraceToTheEnd(t *testing.T) {
	testsupport.NothingLeft(t)
	program := testsupport.CC(t, "mpicc.mpich", "testdata/faces.c", "-O2", "-fopenmp")
	both := regexp.MustCompile(`^in \d+\.\d s:\n +RANK +PID +THREADS +SYSCALLS .*\n +0 +\d+ +0 +[1-9].*\n +1 +\d+ +0 +[1-9].*\n$`)
	var stdout, stderr string
	for _, seconds := range []string{"2", "8", "30"} { // the job, or one of its processes, may end before it is looked at
		job := start(t, []string{"OMP_NUM_THREADS=1"}, built(t, "bin/mpiexec"), "-n", "2", program, "ranks", seconds)
		var code int
		var err error
		stdout, stderr, code, err = testsupport.Output(limit, nil, built(t, "bin/tpsl"), "trace", "-every", "100ms", fmt.Sprint(job.Process.Pid))
		require.NoError(t, err)
		if code == 0 && both.MatchString(stdout) {
			break
		}
	}
	assert.Empty(t, stderr)
	assert.Regexp(t, both, stdout)
}

func TestTraceMisuse(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{nil, 255, "no PID given; try tpsl trace -h"},
		{[]string{"0"}, 255, "0 is no PID"},
		{[]string{"-for", "-1s", "1"}, 255, "-for -1s: want a time from now"},
		{[]string{"-every", "1ms", "1"}, 255, "-every 1ms: want 10ms or more"},
		{[]string{"-by", "x", "1"}, 255, "-by x: want rank, thread or object"},
		{[]string{"-serve", "127.0.0.1:0", "1"}, 255, "-serve and -token go together"},
		{[]string{"4194304"}, 1, "process 4194304: "},
	} {
		var stderr bytes.Buffer
		cmd := exec.Command(built(t, "bin/tpsl"), append([]string{"trace"}, c.args...)...)
		cmd.Stderr = &stderr
		_ = cmd.Run()
		assert.Equal(t, c.code, cmd.ProcessState.ExitCode(), c.args)
		assert.Contains(t, stderr.String(), "tpsl trace: "+c.want)
		assert.Equal(t, 1, bytes.Count(stderr.Bytes(), []byte("\n")), "one line")
	}
}

// What cannot be counted or written, or is not there, is a line that says why; what /proc tells is told.
func TestTraceRefuses(t *testing.T) {
	testsupport.NothingLeft(t)
	testsupport.Require(t, "unshare")
	if os.Geteuid() != 0 {
		testsupport.Unable(t, "namespaces take root")
	}
	job := resting(t, restingProcess(t), 2)
	tpsl := built(t, "bin/tpsl")
	inside := start(t, nil, append(strings.Fields("unshare --pid --fork --kill-child --mount-proc "+built(t, "bin/mpiexec")+" -n 1"), restingProcess(t))...)
	hidden := "unshare --mount sh -c 'mount -t tmpfs none /sys/kernel/btf && exec " + tpsl + " trace -for 100ms %d'"
	for _, c := range []struct {
		name, command string
		pid, code     int
		want          string
	}{
		{"no BTF", hidden, job.Process.Pid, 0, "tpsl trace: this kernel cannot count for us: .*; /proc lacks SYSCALLS, FUTEX, %FUTEX, MIGR"},
		{"from another namespace", "unshare --pid --fork --mount-proc " + tpsl + " trace %d", job.Process.Pid, 1, "tpsl trace: process \\d+: there is no such process here: .*"},
		{"full disk", tpsl + " trace -for 100ms %d >/dev/full", job.Process.Pid, 255, "tpsl trace: write standard output: no space left on device"},
		{"of another namespace", tpsl + " trace -for 100ms %d", inside.Process.Pid, 1, "tpsl trace: process \\d+ is in another PID namespace, .*: run tpsl trace there, as with nsenter -t \\d+ -m -p"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := run(t, nil, "sh", "-c", fmt.Sprintf(c.command, c.pid))
			assert.Equal(t, c.code, o.code)
			assert.Regexp(t, "^"+c.want+"\n$", o.stderr)
		})
	}
	require.NoError(t, exec.Command("pkill", "-TERM", "-P", fmt.Sprint(inside.Process.Pid)).Run())
	_ = inside.Wait()
}

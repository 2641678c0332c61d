// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// stuckJob starts a job of flat ranks that wait for each other, until the test ends. Its stderr goes to the file.
func stuckJob(t *testing.T, options, way string) (job *exec.Cmd, stderr string) {
	t.Helper()
	return backgroundJob(t, "1", options, flat(t, "testdata/stuck.c"), way)
}

// backgroundJob starts a job that goes on until the test ends, with so many OpenMP threads in each process.
func backgroundJob(t *testing.T, threads, options string, program ...string) (job *exec.Cmd, stderr string) {
	t.Helper()
	testsupport.NothingLeft(t)
	file, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	job = exec.Command(built(t, "bin/mpiexec"), slices.Concat(strings.Fields(options), program)...)
	job.Env, job.Stderr = append(os.Environ(), "OMP_NUM_THREADS="+threads), file
	require.NoError(t, job.Start())
	t.Cleanup(func() {
		_ = job.Process.Signal(unix.SIGTERM)
		_ = job.Wait() // a second time where the test has waited
		file.Close()
	})
	return job, file.Name()
}

// where runs tpsl where.
func where(t *testing.T, args ...string) outcome {
	t.Helper()
	return run(t, nil, append([]string{built(t, "bin/tpsl"), "where"}, args...)...)
}

// deadlocked waits until tpsl where says of a process that its job is in a deadlock, and returns what it says. A rank that gets no CPU while
// it is looked at may find what it waits for, so on a busy machine there is no proof at once.
func deadlocked(t *testing.T, pid string) (told outcome) {
	t.Helper()
	require.Eventually(t, func() bool {
		told = where(t, pid)
		return strings.Contains(told.stdout, "\ndeadlock: ")
	}, limit, 100*time.Millisecond)
	return told.succeeded(t)
}

// A running job is asked by the PID of mpiexec, or of one of its ranks, by its own user only.
func TestWhere(t *testing.T) {
	job, _ := stuckJob(t, "-state -n 2", "receive_cycle")
	pid := strconv.Itoa(job.Process.Pid)
	told := deadlocked(t, pid)
	assert.Regexp(t, `(?m)^rank 0 on \S+: in MPI_Recv\(source 1, tag 10, MPI_COMM_WORLD\) at \S+ for \d+s \(PID \d+\)$`, told.stdout)
	_, rank, _ := strings.Cut(told.stdout, "(PID ")
	rank, _, _ = strings.Cut(rank, ")")
	deadlocked(t, rank)

	testsupport.Require(t, "setpriv")
	foreign := run(t, nil, "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", built(t, "bin/tpsl"), "where", pid)
	assert.Equal(t, 255, foreign.code)
	assert.Equal(t, "tpsl where: the job of mpiexec (PID "+pid+") is not yours, or it is ending\n", foreign.stderr)
	assert.Empty(t, foreign.stdout)
}

// SIGQUIT tells where ranks are, and the job goes on.
func TestWhereBySignal(t *testing.T) {
	job, stderr := stuckJob(t, "-state -n 2", "receive_cycle")
	text := func() string {
		content, err := os.ReadFile(stderr)
		require.NoError(t, err)
		return string(content)
	}
	deadlocked(t, strconv.Itoa(job.Process.Pid))
	assert.Empty(t, text())
	// On a busy machine the proxy may not answer in time, or prove nothing: then a user asks again. An answer ends where the next one begins.
	begins := regexp.MustCompile(`(?m)^mpiexec: ranks? 0`)
	answers := func() []string { return begins.Split(text(), -1)[1:] }
	hasAllRanks := regexp.MustCompile(`\nmpiexec: rank 1 .*\n|: not known, as their proxy did not answer\n`)
	asked := 0
	for began := time.Now(); !strings.Contains(text(), "\nmpiexec: deadlock: "); {
		require.Less(t, time.Since(began), limit, text())
		require.NoError(t, job.Process.Signal(unix.SIGQUIT))
		asked++
		require.True(t, assert.Eventually(t, func() bool {
			all := answers()
			return len(all) == asked && hasAllRanks.MatchString(all[asked-1])
		}, limit, 20*time.Millisecond), "SIGQUIT %d has told no more than\n%s", asked, text())
	}
	for _, answer := range answers() {
		assert.LessOrEqual(t, strings.Count(answer, "deadlock"), 1, answer)
	}
	deadlocked(t, strconv.Itoa(job.Process.Pid)) // the job goes on
}

func TestWhereRefused(t *testing.T) {
	quiet := exec.Command("sleep", "1000")
	require.NoError(t, quiet.Start())
	t.Cleanup(func() { _ = quiet.Process.Kill(); _ = quiet.Wait() })
	pid := strconv.Itoa(quiet.Process.Pid)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{pid}, "process " + pid + " is of no job of mpiexec"},
		{[]string{"999999999"}, "there is no process 999999999"},
		{[]string{pid, pid}, "2 PIDs given; want one"},
		{[]string{"x"}, "x is no PID"},
		{[]string{"-x"}, "unknown option -x"},
	} {
		got := where(t, c.args...)
		assert.Equal(t, 255, got.code, c.args)
		assert.Contains(t, got.stderr, "tpsl where: "+c.want)
		assert.Equal(t, 1, strings.Count(got.stderr, "\n"))
	}
}

// A job that notes no calls tells how far its ranks have come, what they use, and their stacks.
func TestWhereNotNoted(t *testing.T) {
	testsupport.Require(t, "gdb")
	for options, threads := range map[string]string{"-n 2": "1", "-n 2 -rpp 2 -tpsl private": "1", "-n 2 -rpp 2": "2"} {
		t.Run(options, func(t *testing.T) {
			program := flat(t, "testdata/stuck.c")
			if threads == "2" {
				program = fixture(t, "stuck")
			}
			job, _ := backgroundJob(t, threads, options, program, "receive_cycle")
			pid := strconv.Itoa(job.Process.Pid)
			require.Eventually(t, func() bool {
				return strings.Contains(where(t, pid).stdout, ": had begun MPI_Init, in no PMI barrier (PID")
			}, limit, 100*time.Millisecond)
			require.Eventually(t, func() bool {
				told := where(t, "-stacks", pid).stdout
				return strings.Contains(told, "\nMPI calls are not noted: mpiexec -state ") && strings.Contains(told, "\n  #0 PMPI_Recv () from ")
			}, limit, 100*time.Millisecond)
			var said string
			used := regexp.MustCompile(`(?m)^ +1 \S+ +\d+ +- +[0-9.]+ +\S+ +\d+ +\d+ +\d+ - `)
			assert.Eventually(t, func() bool { // the proxy may not answer in time
				said = run(t, nil, built(t, "bin/tpsl"), "top", "-once", pid).succeeded(t).stdout
				return threads != "1" || used.MatchString(said)
			}, limit, 100*time.Millisecond)
			assert.Contains(t, said, "\nMPI calls are not noted (mpiexec -state)\n")
			assert.Equal(t, threads == "1", used.MatchString(said), said)
		})
	}
}

// The ranks of several hosts are told together.
func TestWhereOnHosts(t *testing.T) {
	testsupport.NothingLeft(t)
	hosts := testsupport.Hosts(t, "a", "b")
	job := begin(t, hosts, "-hosts a,b -n 2 -genv OMP_NUM_THREADS 1 -genv UCX_NET_DEVICES eth0 -state", flat(t, "testdata/stuck.c"), "wrong_tag")
	why := regexp.MustCompile(`(?m)^deadlock: rank 0 waits in MPI_Recv\(source 1, tag 1, MPI_COMM_WORLD\), rank 1 waits in MPI_Ssend\(to 0, tag 2, MPI_COMM_WORLD\)$`)
	require.Eventually(t, func() bool {
		return why.MatchString(run(t, nil, hosts[0].Inside(built(t, "bin/tpsl"), "where")...).stdout)
	}, limit, 100*time.Millisecond)
	require.NoError(t, unix.Kill(job.await(t, 1, "mpiexec -hosts")[0], unix.SIGTERM))
	job.end(t)
}

// The line of the program from which a call is made is told, if the program has debugging information.
func TestWhereOfLines(t *testing.T) {
	line := 1 + strings.Count(strings.Split(readText(t, "testdata/stuck.c"), "MPI_Recv(")[0], "\n")
	for _, mode := range []struct{ options, threads, compiler string }{
		{"-n 2", "1", "mpicc.mpich"}, {"-n 2 -rpp 2 -tpsl private", "1", "mpicc.mpich"}, {"-n 2 -rpp 2", "2", "tpslcc"},
	} {
		t.Run(mode.options, func(t *testing.T) {
			program := testsupport.CC(t, mode.compiler, "testdata/stuck.c", "-fopenmp", "-O2", "-g")
			said := stuck(t, []string{"OMP_NUM_THREADS=" + mode.threads}, "deadlock: .*", "-hang-report 1 "+mode.options, program, "receive_cycle")
			assert.Regexp(t, fmt.Sprintf(`in MPI_Recv\(source 1, tag 10, MPI_COMM_WORLD\) at stuck\.c:%d `, line), said)
		})
	}
}

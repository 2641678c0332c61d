// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"context"
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

// stuckWays are ways of testdata/stuck.c, and what is said of why their ranks wait.
var stuckWays = map[string]string{
	"receive_cycle":      `deadlock: rank 0 waits in MPI_Recv\(source 1, tag 10, MPI_COMM_WORLD\), rank 1 waits in MPI_Recv\(source 2, tag 11, MPI_COMM_WORLD\), rank 2 waits in MPI_Recv\(source 3, tag 12, MPI_COMM_WORLD\), rank 3 waits in MPI_Recv\(source 0, tag 13, MPI_COMM_WORLD\)`,
	"mismatch":           `deadlock: ranks 0-2 wait in MPI_Barrier\(MPI_COMM_WORLD\), rank 3 waits in MPI_Bcast\(root 0, MPI_COMM_WORLD\)`,
	"missing":            `ranks 0-1,3 wait in MPI_Barrier\(MPI_COMM_WORLD\); not there: rank 2 \(outside of MPI\)`,
	"lost_message":       `deadlock: rank 0 waits in MPI_Recv\(source 1, tag 5, MPI_COMM_WORLD\), rank 1 waits in MPI_(Comm_free|Finalize)\(\).*`,
	"wrong_tag":          `deadlock: rank 0 waits in MPI_Recv\(source 1, tag 1, MPI_COMM_WORLD\), rank 1 waits in MPI_Ssend\(to 0, tag 2, MPI_COMM_WORLD\).*`,
	"wrong_communicator": `deadlock: rank 0 waits in MPI_Recv\(source 1, tag 1, communicator "twin"\), rank 1 waits in MPI_Ssend\(to 0, tag 1, MPI_COMM_WORLD\).*`,
	"window_lock":        `possible deadlock: every rank waits in an MPI call, but the calls do not say for whom all of them wait`,
	"send_cycle":         `deadlock: rank 0 waits in MPI_Send\(to 1, tag 4, MPI_COMM_WORLD\), rank 1 waits in MPI_Send\(to 2, tag 4, MPI_COMM_WORLD\), rank 2 waits in MPI_Send\(to 3, tag 4, MPI_COMM_WORLD\), rank 3 waits in MPI_Send\(to 0, tag 4, MPI_COMM_WORLD\)`,
	"ended_rank":         `deadlock: rank 0 waits in MPI_Recv\(source 1, tag 3, MPI_COMM_WORLD\), and rank 1 has ended; ranks 2-3 cannot go on because of that`,
	"mixed":              `deadlock: rank 0 waits in MPI_Recv\(source 1, tag 6, communicator "even"\), rank 2 waits in MPI_Barrier\(communicator "even"\).*`,
}

// otherwiseStuck are modes in which a way of testdata/stuck.c does something else, and what is said then.
var otherwiseStuck = map[string]string{
	"threads/ended_rank":                   `ranks 0-3 \(one process, .*\) exited with status 0 without MPI_Finalize of ranks 0-3; exit was called by the thread of rank 1`,
	"threads with all settings/ended_rank": `deadlock: ranks 2-3 wait in MPI_Barrier\(MPI_COMM_WORLD\), and rank 0 has ended`,
	"threads with all settings/mismatch":   `ranks (0-1|2-3) \(one process, .*\) exited with status 1 without MPI_Finalize of ranks (0-1|2-3)`, // TPSL_COLLECTIVES=memory has found it
}

// stuck runs a job of which a line on stderr has to match, and ends it then. It returns what was on stderr until the line.
func stuck(t *testing.T, env []string, line, options string, program ...string) (stderr string) {
	t.Helper()
	testsupport.NothingLeft(t)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	job := exec.CommandContext(ctx, built(t, "bin/mpiexec"), slices.Concat(strings.Fields(options), program)...)
	job.Env = append(os.Environ(), env...)
	job.Cancel = func() error { return job.Process.Signal(unix.SIGTERM) }
	pipe, err := job.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, job.Start())
	found, wanted := false, regexp.MustCompile("^mpiexec: "+line+"$")
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		stderr += lines.Text() + "\n"
		if !found && wanted.MatchString(lines.Text()) {
			found = true
			require.NoError(t, job.Process.Signal(unix.SIGTERM))
		}
	}
	_ = job.Wait() // it was ended
	require.True(t, found, "no line matches %s:\n%s", line, stderr)
	return stderr
}

// What ranks wait for is named, in every mode.
func TestStuckRanksAreNamed(t *testing.T) {
	for _, mode := range []struct {
		name, threads, options string
		program                func() string
	}{
		{"flat", "1", "-n 4", func() string { return flat(t, "testdata/stuck.c") }},
		{"private", "1", "-n 4 -rpp 2 -tpsl private", func() string { return flat(t, "testdata/stuck.c") }},
		{"threads", "4", "-n 4 -rpp 4", func() string { return fixture(t, "stuck") }},
		{"threads with all settings", "2", "-n 4 -rpp 2 -progress neighbours -genv TPSL_COLLECTIVES memory", func() string { return fixture(t, "stuck") }},
		{"Open MPI", "1", "-n 4", func() string { return flatOpenMPI(t, "testdata/stuck.c") }},
		{"private Open MPI", "1", "-n 4 -rpp 4", func() string { return flatOpenMPI(t, "testdata/stuck.c") }},
	} {
		for way, want := range stuckWays {
			usual := mode.name == "flat" || way == "mixed" || mode.name == "Open MPI" && way == "ended_rank"
			if !usual && !testsupport.Large() {
				continue // the calls are noted alike, and what follows from them is not known to depend on the mode
			}
			if otherwise := otherwiseStuck[mode.name+"/"+way]; otherwise != "" {
				want = otherwise
			}
			t.Run(mode.name+"/"+way, func(t *testing.T) {
				options := "-hang-report 1 -disable-auto-cleanup " + mode.options
				said := stuck(t, []string{"OMP_NUM_THREADS=" + mode.threads}, want, options, mode.program(), way)
				if !strings.HasPrefix(want, "deadlock") {
					assert.NotContains(t, said, "mpiexec: deadlock")
				}
			})
		}
	}
}

// A job that is slow is never said to be in a deadlock.
func TestSlowRanksAreNoDeadlock(t *testing.T) {
	program, jobs := flat(t, "testdata/stuck.c"), 3
	if testsupport.Large() {
		jobs = 200
		testsupport.Limit(t, time.Hour)
	}
	for range jobs {
		job := mpiexec(t, []string{"OMP_NUM_THREADS=1"}, "-hang-report 0.1 -n 4", program, "slow")
		require.Zero(t, job.code, job.stderr)
		require.Contains(t, job.stderr, "no rank has changed its state")
		require.NotContains(t, job.stderr, "mpiexec: deadlock")
	}
}

// A rank that was stopped may have what it waits for. When it goes on, so does the job.
func TestStoppedRankIsNoDeadlock(t *testing.T) {
	job, stderr := stuckJob(t, "-state -n 2", "stopped")
	pid := strconv.Itoa(job.Process.Pid)
	waits := regexp.MustCompile(`(?m)^rank 1 on \S+: in MPI_Recv\(source 0, tag 1, MPI_COMM_WORLD\).* \(PID (\d+)\)$`)
	var stopped int
	require.Eventually(t, func() bool {
		found := waits.FindStringSubmatch(where(t, pid).stdout)
		if found == nil {
			return false
		}
		stopped, _ = strconv.Atoi(found[1])
		return true
	}, limit, 20*time.Millisecond)
	require.NoError(t, unix.Kill(stopped, unix.SIGSTOP))
	sent := regexp.MustCompile(`(?m)^rank 0 on \S+: in MPI_Recv\(source 1, tag 2, MPI_COMM_WORLD\).* for ([2-9]|\d\d+)s \(PID \d+\)$`)
	require.Eventually(t, func() bool { // rank 0 has sent what rank 1 waits for, and both calls are old enough for a deadlock
		return stands(stopped) && sent.MatchString(where(t, pid).stdout)
	}, limit, 20*time.Millisecond)
	for range 3 {
		var told outcome
		require.Eventually(t, func() bool { // on a busy machine the proxy may not answer in time
			told = where(t, pid)
			return !strings.Contains(told.stdout, "not known, as their proxy did not answer")
		}, limit, 20*time.Millisecond)
		told.succeeded(t)
		assert.Regexp(t, `rank 0 on \S+: in MPI_Recv\(source 1, tag 2, MPI_COMM_WORLD\)`, told.stdout)
		assert.Regexp(t, `rank 1 on \S+: in MPI_Recv\(source 0, tag 1, MPI_COMM_WORLD\)`, told.stdout)
		assert.NotContains(t, told.stdout, "deadlock")
	}
	require.NoError(t, unix.Kill(stopped, unix.SIGCONT))
	defer time.AfterFunc(limit, func() { _ = job.Process.Kill() }).Stop()
	require.NoError(t, job.Wait(), readText(t, stderr))
}

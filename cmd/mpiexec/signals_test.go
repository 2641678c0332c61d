// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// trapping starts two ranks that say "ready" and then what signal they got.
func trapping(t *testing.T, signals, action string) *job {
	t.Helper()
	return trappingBy(t, []string{"mpiexec"}, signals, action)
}

func trappingBy(t *testing.T, launcher []string, signals, action string) *job {
	t.Helper()
	script := "for s in " + signals + "; do trap \"echo got $s; " + action + "\" $s; done; echo ready; while :; do sleep 0.2 & wait $!; done"
	r, w := pipe(t)
	stdin, _ := pipe(t) // does not end: see testsupport.Hydra
	j := launchTo(t, stdin, w, append(launcher, "-n", "2", "sh", "-c", script)...)
	w.Close()
	j.reader = newCollector(r)
	j.reader.await(t, "ready\n", 2)
	return j
}

// heedHangup has programs start with SIGHUP's default action. A process that ignores SIGHUP from its start, as under nohup, hands that
// on, and no shell can trap it then.
func heedHangup() {
	if signal.Ignored(unix.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), unix.SIGHUP)
	}
}

// Hydra dies of HUP and USR2 and swallows CONT and WINCH.
func TestSignalsAreForwarded(t *testing.T) {
	heedHangup()
	for _, name := range []string{"TERM", "QUIT", "USR1", "USR2", "ALRM", "HUP", "TSTP", "CONT", "WINCH"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := trapping(t, name, "exit 5")
			require.NoError(t, j.Process.Signal(unix.SignalNum("SIG"+name)))
			assert.Equal(t, 5, j.end(t), "the ranks' code is returned")
			j.reader.await(t, "got "+name+"\n", 2)
		})
	}
}

// A signal that is nobody's business changes nothing; Hydra dies of it.
func TestSIGPIPE(t *testing.T) {
	for launcher, want := range map[string]int{"mpiexec": 0, "mpiexec.hydra": -1} {
		r, w := pipe(t)
		file := filepath.Join(t.TempDir(), "go")
		j := launchTo(t, nil, w, launcher, "-n", "2", "sh", "-c", "echo ready; until [ -e $0 ]; do sleep 0.05; done; echo done", file)
		j.reader = newCollector(r)
		j.reader.await(t, "ready\n", 2)
		require.NoError(t, j.Process.Signal(unix.SIGPIPE))
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		assert.Equal(t, want, j.end(t), launcher)
		if want == 0 {
			j.reader.await(t, "done\n", 2)
		}
	}
}

// Each rank leads a session and a process group of its own, as with Hydra.
func TestRanksLeadSessions(t *testing.T) {
	args := []string{"-n", "2", "sh", "-c", "read -r pid name state parent group session rest </proc/self/stat; [ $$ = $group ] && [ $$ = $session ] && echo leads"}
	const both = "leads\nleads\n"
	ours, _ := runJob(t, args...)
	for _, j := range []*job{ours, byHydra(t, func(j *job) bool { return j.out.String() == both }, args...)} {
		assert.Zero(t, j.ProcessState.ExitCode(), j.Args)
		assert.Equal(t, both, j.out.String(), j.Args)
	}
}

func TestInterruptOnce(t *testing.T) {
	j := trapping(t, "INT", "exit 0")
	require.NoError(t, j.Process.Signal(unix.SIGINT))
	assert.Zero(t, j.end(t))
	assert.Contains(t, j.errOut.String(), "Sending Ctrl-C to processes as requested\nmpiexec: Press Ctrl-C again to force abort\n")
}

func TestInterruptTwice(t *testing.T) {
	j := trapping(t, "INT", ":")
	require.NoError(t, j.Process.Signal(unix.SIGINT))
	j.reader.await(t, "got INT", 2)
	sent := time.Now()
	require.NoError(t, j.Process.Signal(unix.SIGINT))
	assert.Equal(t, 255, j.end(t))
	assert.Less(t, time.Since(sent), 15*time.Second)
	assert.Contains(t, j.errOut.String(), "Ctrl-C caught... cleaning up processes")
}

// A shell without job control starts what stands in front of an & with SIGINT ignored. The launcher catches it all the same, and the
// ranks begin with the default action.
func TestInterruptInBackground(t *testing.T) {
	for _, launcher := range []string{"mpiexec", "mpiexec.hydra"} {
		testsupport.Require(t, launcher)
		j := trappingBy(t, []string{"sh", "-c", `trap "" INT; exec "$@"`, "sh", launcher}, "INT", ":")
		require.NoError(t, j.Process.Signal(unix.SIGINT), launcher)
		j.reader.await(t, "got INT", 2)
		require.NoError(t, j.Process.Signal(unix.SIGINT), launcher)
		assert.Equal(t, 255, j.end(t), launcher)
	}
}

// Under nohup SIGHUP is none of the launcher's business.
func TestHangupIgnored(t *testing.T) {
	j := trappingBy(t, []string{"sh", "-c", `trap "" HUP; exec "$@"`, "sh", "mpiexec"}, "HUP TERM", "exit 5")
	require.NoError(t, j.Process.Signal(unix.SIGHUP))
	require.NoError(t, j.Process.Signal(unix.SIGTERM))
	assert.Equal(t, 5, j.end(t))
	assert.NotContains(t, j.reader.text(), "got HUP")
}

// Ranks that go on after a SIGHUP, as MPICH's with UCX do, have the time that mpiexec states.
func TestHangup(t *testing.T) {
	heedHangup()
	j := trapping(t, "HUP", ":")
	require.NoError(t, j.Process.Signal(unix.SIGHUP))
	j.reader.await(t, "got HUP\n", 2)
	assert.Equal(t, 255, j.end(t))
	assert.Contains(t, j.errOut.String(), "mpiexec: SIGHUP: what has not ended in 10s is killed\n")
	assert.Contains(t, j.errOut.String(), "mpiexec: killed what had not ended 10s after SIGHUP\n")
}

func TestInterruptKills(t *testing.T) {
	j := launch(t, nil, "mpiexec", "-n", "2", "sleep", "60")
	j.awaitRanks(t, 2)
	require.NoError(t, j.Process.Signal(unix.SIGINT))
	assert.Equal(t, 2, j.end(t))
	assert.Contains(t, j.errOut.String(), " was killed by SIGINT (2, Interrupt)")
}

// awaitRunning waits until no thread of the job's ranks, which run the program, is stopped by a debugger.
func (j *job) awaitRunning(t *testing.T, program string) {
	t.Helper()
	require.Eventually(t, func() bool {
		for _, pid := range j.processes() {
			if !strings.HasPrefix(testsupport.CommandLine(pid), program) {
				continue
			}
			tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
			for _, task := range tasks {
				if stat, _ := os.ReadFile(task); bytes.Contains(stat, []byte(") t ")) {
					return false
				}
			}
		}
		return true
	}, patience, 2*time.Millisecond)
}

// A rank under gdb: it gets stdin, Ctrl-C stops it and does not end the job or the others, however often.
func TestInterruptDebugger(t *testing.T) {
	testsupport.NothingLeft(t)
	testsupport.Require(t, "gdb")
	stdin, commands := pipe(t)
	out, stdout := pipe(t)
	program := probe(t)
	j := launchTo(t, stdin, stdout, "mpiexec", "-gdb", "1", "-n", "2", program, "wait")
	j.reader = newCollector(out)
	_, err := fmt.Fprintln(commands, "run")
	require.NoError(t, err)
	j.reader.await(t, "rank 1 of 2, sum 1\n", 1)
	for i := range 3 {
		require.NoError(t, j.Process.Signal(unix.SIGINT))
		j.reader.await(t, "received signal SIGINT", i+1)
		_, err = fmt.Fprintln(commands, "backtrace\nprint 40+2\ncontinue")
		require.NoError(t, err)
		j.reader.await(t, " = 42", i+1)
		j.reader.await(t, "Continuing.", i+1)
		j.awaitRunning(t, program) // else the next signal would find gdb at its prompt
	}
	j.reader.await(t, " in main ()", 1)
	require.NoError(t, j.Process.Signal(unix.SIGINT))
	j.reader.await(t, "received signal SIGINT", 4)
	_, err = fmt.Fprintln(commands, "kill\nquit")
	require.NoError(t, err)
	assert.Zero(t, j.end(t))
	assert.Contains(t, j.errOut.String(), "exited with status 0 without MPI_Finalize of rank 1\n")
}

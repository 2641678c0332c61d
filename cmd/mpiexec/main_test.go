// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// The test binary is mpiexec when it is called by that name.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"mpiexec": main})
}

// limit bounds every job of these tests.
const limit = 30 * time.Second

const markName = "TPSL_TEST_MARK"

var marks atomic.Int64

// A job is one run of a launcher, all of whose processes carry a mark in their environment.
type job struct {
	*exec.Cmd
	mark        string
	out, errOut bytes.Buffer
	started     time.Time
}

// launch starts a launcher. Unless the test sets Stdin or Stdout before, they are empty and kept.
func launch(t *testing.T, stdin io.Reader, args ...string) *job {
	t.Helper()
	return launchTo(t, stdin, nil, args...)
}

func launchTo(t *testing.T, stdin io.Reader, stdout *os.File, args ...string) *job {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	j := &job{Cmd: exec.CommandContext(ctx, args[0], args[1:]...), mark: fmt.Sprintf("%d-%d", os.Getpid(), marks.Add(1))}
	j.Env = append(os.Environ(), markName+"="+j.mark, "UCX_HANDLE_ERRORS=none")
	j.Stdin, j.Stdout, j.Stderr = stdin, &j.out, &j.errOut
	if stdout != nil {
		j.Stdout = stdout
	}
	j.WaitDelay = 5 * time.Second
	j.started = time.Now()
	require.NoError(t, j.Start())
	t.Cleanup(func() {
		for _, pid := range j.processes() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return j
}

// end waits for the launcher and returns its exit code; nothing of the job may be left soon after.
func (j *job) end(t *testing.T) int {
	t.Helper()
	err := j.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		require.NoError(t, err)
	}
	j.nothingLeft(t)
	return j.ProcessState.ExitCode()
}

func (j *job) nothingLeft(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool { return len(j.processes()) == 0 }, 8*time.Second, 20*time.Millisecond, "processes of the job are left")
}

// processes finds what carries the job's mark, zombies excluded.
func (j *job) processes() []int {
	var found []int
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range paths {
		environ, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(environ, []byte(markName+"="+j.mark+"\x00")) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		found = append(found, pid)
	}
	return found
}

// family returns the job's processes by what they are.
func (j *job) family() (mpiexec, proxy int, ranks []int) {
	for _, pid := range j.processes() {
		cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		switch {
		case pid == j.Process.Pid:
			mpiexec = pid
		case bytes.HasSuffix(cmdline, []byte("+proxy\x00")):
			proxy = pid
		case bytes.Contains(environ, []byte("\x00PMI_RANK=")):
			ranks = append(ranks, pid)
		}
	}
	return mpiexec, proxy, ranks
}

// run runs mpiexec to its end.
func run1(t *testing.T, args ...string) (j *job, code int) {
	t.Helper()
	j = launch(t, nil, append([]string{"mpiexec"}, args...)...)
	return j, j.end(t)
}

// probe compiles the MPI program of these tests.
func probe(t *testing.T) string {
	t.Helper()
	return testsupport.CC(t, "mpicc.mpich", "testdata/probe.c")
}

func sessions(t *testing.T) string {
	t.Helper()
	return testsupport.CC(t, "gcc", "testdata/sessions.c", "-pthread")
}

// awaitOutput waits until the job has written text that contains want count times.
func (j *job) awaitRanks(t *testing.T, count int) []int {
	t.Helper()
	var ranks []int
	require.Eventually(t, func() bool { _, _, ranks = j.family(); return len(ranks) >= count }, 10*time.Second, 2*time.Millisecond)
	return ranks
}

func TestScripts(t *testing.T) {
	probe, sessions := probe(t), sessions(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("PROBE", probe)
			env.Setenv("SESSIONS", sessions)
			env.Setenv("UCX_HANDLE_ERRORS", "none")
			return nil
		},
		Condition: func(string) (bool, error) { return false, nil },
	})
}

func lines(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

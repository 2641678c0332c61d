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
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/soname"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// The test binary is mpiexec, leaver, placed or pmiprobe when it is called by that name.
func TestMain(m *testing.M) {
	// Crashes are many here; only the soft limit is changed, as one test wants a core.
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_CORE, &limit) == nil {
		limit.Cur = 0
		_ = unix.Setrlimit(unix.RLIMIT_CORE, &limit)
	}
	// The race detector's run-time makes each of the many processes wait a second at its end.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	testscript.Main(m, map[string]func(){"mpiexec": main, "leaver": leaver, "placed": placed, "pmiprobe": pmiProbe})
}

// limit bounds every job of these tests: what sleeps a minute in them is to be ended.
const limit = 50 * time.Second

// patience is how long what comes by itself may take.
const patience = 20 * time.Second

const markName = "TPSL_TEST_MARK"

var marks atomic.Int64

// A job is one run of a launcher, all of whose processes carry a mark in their environment.
type job struct {
	*exec.Cmd
	mark        string
	out, errOut bytes.Buffer
	reader      *collector // of stdout, where the test reads it while the job runs
	started     time.Time

	groupsBefore map[string]bool
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
	if args[0] == "mpiexec.hydra" && stdin == nil {
		j.Stdin, _ = pipe(t) // does not end: see testsupport.Hydra
	}
	j.WaitDelay = 5 * time.Second
	j.groupsBefore = groups()
	j.started = time.Now()
	require.NoError(t, j.Start())
	t.Cleanup(func() {
		for _, pid := range j.processes() {
			_ = unix.Kill(pid, unix.SIGKILL)
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
	require.Eventually(t, func() bool { return len(j.processes()) == 0 }, patience, 20*time.Millisecond, "processes of the job are left")
	require.Eventually(t, func() bool { return len(keepers(j.Process.Pid)) == 0 && len(j.newGroups()) == 0 }, patience, 20*time.Millisecond, "a control group of the job is left")
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

// family returns the job's proxy and the processes of its ranks.
func (j *job) family() (proxy int, ranks []int) {
	parents := map[int]int{}
	for _, pid := range j.processes() {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]); len(f) > 1 { // proc(5): state, parent
			parents[pid], _ = strconv.Atoi(string(f[1]))
		}
		cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if parents[pid] == j.Process.Pid && bytes.Contains(cmdline, []byte("\x00+proxy\x00")) {
			proxy = pid // not a child of os/exec's that looks what the kernel can do
		}
	}
	for pid, parent := range parents {
		environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if proxy != 0 && parent == proxy && bytes.Contains(environ, []byte("\x00PMI_RANK=")) {
			ranks = append(ranks, pid)
		}
	}
	slices.Sort(ranks)
	return proxy, ranks
}

// runJob runs mpiexec to its end.
func runJob(t *testing.T, args ...string) (j *job, code int) {
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

// awaitRanks waits until count rank processes run and returns them.
func (j *job) awaitRanks(t *testing.T, count int) []int {
	t.Helper()
	var ranks []int
	require.Eventually(t, func() bool { _, ranks = j.family(); return len(ranks) >= count }, patience, 2*time.Millisecond)
	return ranks
}

// byHydra runs mpiexec.hydra until it has done enough: now and then it counts ranks that it killed itself, or prints nothing.
func byHydra(t *testing.T, enough func(*job) bool, args ...string) *job {
	t.Helper()
	for try := 1; ; try++ {
		j := launch(t, nil, append([]string{"mpiexec.hydra"}, args...)...)
		if j.end(t); try == 10 || enough(j) {
			return j
		}
	}
}

// stop stops a process and waits until it stands still.
func stop(t *testing.T, pid int) {
	t.Helper()
	require.NoError(t, unix.Kill(pid, unix.SIGSTOP))
	require.Eventually(t, func() bool {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		for _, task := range tasks {
			if stat, _ := os.ReadFile(task); len(stat) > 0 && !bytes.Contains(stat, []byte(") T ")) {
				return false
			}
		}
		return true
	}, patience, time.Millisecond)
}

func TestScripts(t *testing.T) {
	probe, sessions := probe(t), sessions(t)
	putStandIns(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", os.Getenv("GORACE"))
			env.Setenv("PROBE", probe)
			env.Setenv("SESSIONS", sessions)
			env.Setenv("UCX_HANDLE_ERRORS", "none")
			return nil
		},
	})
}

// putStandIns puts files where -tpsl shared looks for stand-ins, beside the folder of the scripts' mpiexec. No program of
// these tests loads them.
func putStandIns(t *testing.T) {
	t.Helper()
	mpiexec, err := exec.LookPath("mpiexec")
	require.NoError(t, err)
	folder := filepath.Join(filepath.Dir(filepath.Dir(mpiexec)), "lib", "tpsl")
	require.NoError(t, os.MkdirAll(folder, 0o755))
	for _, name := range soname.StandIns {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), nil, 0o644))
	}
}

func lines(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// A collector reads output on a goroutine while the job runs.
type collector struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func newCollector(r io.Reader) *collector {
	c := new(collector)
	go func() { _, _ = io.Copy(c, r) }()
	return c
}

func (c *collector) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.Write(b)
}

func (c *collector) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.String()
}

// await waits until the output holds want count times.
func (c *collector) await(t *testing.T, want string, count int) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Count(c.text(), want) >= count }, patience, 2*time.Millisecond)
}

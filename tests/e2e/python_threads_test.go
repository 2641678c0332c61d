// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// Threads of one interpreter are ranks: of jobs of their own, one after the other and two at a time, and of a launcher's job.
func TestPythonThreads(t *testing.T) {
	assert.Equal(t, "own\n", arraysJob(t, "", "threads.py", "own").succeeded(t).stdout)
	for options, want := range map[string][]string{
		"-n 4 -rpp 4 -tpsl shared": {"launched [0, 1, 2, 3]\n"},
		"-n 4 -rpp 2 -tpsl shared": {"launched [0, 1]\n", "launched [2, 3]\n"},
		"-n 3 -rpp 2 -tpsl shared": {"launched [0, 1]\n", "launched [2]\n"},
		"-n 2":                     {"launched [0]\n", "launched [1]\n"},
	} {
		assert.Equal(t, want, arraysJob(t, options, "threads.py", "launched").succeeded(t).lines(), options)
	}
}

// A rank that cannot go on ends its process, since others may wait for it.
func TestPythonThreadsEnd(t *testing.T) {
	for _, options := range []string{"", "-n 2 -rpp 2 -tpsl shared"} {
		for how, c := range map[string]struct {
			code int
			says string
		}{
			"raise":     {1, `^tpsl\.run: rank 1 ends the process:\nTraceback .*\n(?s:.*)\nValueError: why\n`},
			"exit":      {3, ""},
			"exit text": {1, "why\n"},
		} {
			o := arraysJob(t, options, "threads.py", "ends", how)
			assert.Equal(t, c.code, o.code, "%s %s: %s", options, how, o.stderr)
			assert.Regexp(t, c.says, o.stderr)
		}
		// A child of a rank ends alone.
		for how, c := range map[string]struct {
			code int
			says string
		}{
			"raise":      {1, `^tpsl\.run: a child of rank 1 ends:\nTraceback .*\n(?s:.*)\nValueError: why\n$`},
			"return":     {1, `^tpsl\.run: a child of rank 1 ends:\nTraceback .*\n(?s:.*)\nRuntimeError: run: f returned in a child made by fork, and the ranks are in its parent: end the child by sys\.exit, or by os\._exit\n$`},
			"exit":       {3, "^$"},
			"exit none":  {0, "^$"},
			"exit 0":     {0, "^$"},
			"exit large": {4, "^$"},
			"exit huge":  {255, "^$"},
			"exit text":  {1, "^why\n$"},
		} {
			o := arraysJob(t, options, "threads.py", "child", how)
			assert.Zero(t, o.code, "%s %s: %s", options, how, o.stderr)
			assert.Equal(t, fmt.Sprintln(c.code), o.stdout, "%s %s: %s", options, how, o.stderr)
			assert.Regexp(t, c.says, o.stderr)
		}
	}
	// A process whose last words nobody can read ends likewise.
	for _, how := range []string{"raise", "exit text"} {
		o := run(t, []string{"PYTHONPATH=" + built(t, "share/tpsl/python"), "PYTHONDONTWRITEBYTECODE=1"}, "sh", "-c", `exec "$0" "$@" >/dev/full 2>&1`,
			python(t, "numpy"), testScript(t, "arrays/threads.py"), "ends", how)
		assert.Equal(t, 1, o.code, how)
	}
	// An interrupt ends it, also one that the thread of a rank takes.
	for _, who := range []string{"the test", "itself"} {
		job := start(t, []string{"PYTHONPATH=" + built(t, "share/tpsl/python"), "PYTHONDONTWRITEBYTECODE=1"}, python(t, "numpy"), testScript(t, "arrays/threads.py"), "waits", who)
		if who == "the test" {
			require.NoError(t, job.Process.Signal(unix.SIGINT))
		}
		_ = job.Wait()
		assert.Equal(t, "signal: interrupt", job.ProcessState.String(), who)
	}
}

// What threads cannot be ranks with is refused.
func TestPythonThreadsRefused(t *testing.T) {
	assert.Equal(t, []string{"refused\n", "refused\n"}, arraysJob(t, "-n 2 -rpp 2", "threads.py", "private").succeeded(t).lines())
	python(t, "mpi4py")
	assert.Equal(t, "refused\n", arraysJob(t, "", "threads.py", "early").succeeded(t).stdout)
	o := arraysJob(t, "", "threads.py", "other_mpi")
	assert.Equal(t, 1, o.code)
	assert.Regexp(t, `(?m)^ImportError: \S+/MPI\.\S+ is built for another MPI library: threads of tpsl\.run need an mpi4py for MPICH$`, o.stderr)
}

// Each thread that is a rank has mpi4py to itself: messages, collective operations of arrays and of objects, communicators, windows,
// operations and errors. TPSL_TEST_MPI4PY names a source tree with an mpi4py for MPICH, as for TestMPI4PYSuite.
func TestPythonThreadsMPI4PY(t *testing.T) {
	testsupport.NothingLeft(t)
	command, _ := threadsMPI4PY(t, "arrays/threads_mpi4py.py")
	assert.Equal(t, "right\n", run(t, nil, command...).succeeded(t).stdout)
	for _, options := range []string{"-n 4 -rpp 4 -tpsl shared", "-n 4 -rpp 2 -tpsl shared"} {
		assert.Contains(t, mpiexec(t, nil, options, command...).succeeded(t).stdout, "right\n")
	}
}

// threadsMPI4PY is a command that runs a script with an mpi4py for MPICH, and the source tree of that.
func threadsMPI4PY(t *testing.T, script string) (command []string, tree string) {
	t.Helper()
	tree, modules := mpi4pyForMPICH(t)
	return []string{"env", "PYTHONPATH=" + built(t, "share/tpsl/python") + ":" + modules, python(t, "numpy"), testScript(t, script)}, tree
}

// mpi4py's own tests, but for those that the script names, end on threads as in flat ranks.
func TestPythonThreadsMPI4PYSuite(t *testing.T) {
	testsupport.NothingLeft(t)
	command, tree := threadsMPI4PY(t, "arrays/threads_suite.py")
	suite := func(words []string, ranks string) []string {
		o := runFor(t, 10*time.Minute, []string{"TPSL_YIELD=always"}, append(slices.Concat(words, command), ranks, filepath.Join(tree, "test"))...)
		require.Zero(t, o.code, o.stderr)
		return o.lines()
	}
	threads := suite(nil, "2")
	t.Log(threads)
	assert.Regexp(t, `^ran \d{4}, failed \d, skipped \d+\n$`, threads[0])
	assert.Equal(t, suite([]string{built(t, "bin/mpiexec"), "-n", "2"}, "0"), threads)
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// arraysJob runs a script of testdata/arrays with the Python package of the tree. options are those of mpiexec; none: without it.
func arraysJob(t *testing.T, options, script string, arguments ...string) outcome {
	t.Helper()
	testsupport.NothingLeft(t)
	program := python(t, "numpy")
	env := []string{"PYTHONPATH=" + built(t, "share/tpsl/python"), "PYTHONDONTWRITEBYTECODE=1"}
	arguments = append([]string{program, testScript(t, "arrays/"+script)}, arguments...)
	if options == "" {
		return run(t, env, arguments...)
	}
	return mpiexec(t, env, options, arguments...)
}

// perRank returns a line for each of so many ranks.
func perRank(format string, ranks int, more ...any) (lines []string) {
	for rank := range ranks {
		lines = append(lines, fmt.Sprintf(format, append([]any{rank}, more...)...))
	}
	return lines
}

// Ranks view each other's arrays of all kinds as these are: type, shape, strides, and whether they can be written. What cannot be shared
// is refused with words that say what to do.
func TestArrays(t *testing.T) {
	job := arraysJob(t, "-n 2 -rpp 2", "kinds.py").succeeded(t)
	assert.Equal(t, perRank("rank %d of 2 [0, 1] %d arrays\n", 2, 36), job.lines())
}

func TestArraysWithoutNumpy(t *testing.T) {
	job := arraysJob(t, "-n 2 -rpp 2", "without_numpy.py").succeeded(t)
	assert.Equal(t, perRank("rank %d of 2\n", 2), job.lines())
}

// Arrays that ranks share, view and let go at random, 10^5 times a rank, are whole, and none is kept at the end.
func TestArraysAtRandom(t *testing.T) {
	for _, threads := range []string{"1", "3"} {
		t.Run(threads+" threads", func(t *testing.T) {
			job := arraysJob(t, "-n 4 -rpp 4", "random_arrays.py", "100000", threads).succeeded(t)
			assert.Equal(t, perRank("rank %d viewed enough\n", 4), job.lines())
		})
	}
}

// Arrays outlive the rank that shared them, however it ended.
func TestArraysOutliveTheirRank(t *testing.T) {
	for _, how := range []string{"end", "thread", "exit", "raise", "_exit", "exec"} {
		t.Run(how, func(t *testing.T) {
			job := arraysJob(t, "-disable-auto-cleanup -n 2 -rpp 2", "lifetimes.py", how, t.TempDir())
			assert.Equal(t, "all 16 arrays are there, 200 others made\n", job.stdout, job.stderr)
			assert.Equal(t, how == "raise", job.code != 0, job.stderr)
		})
	}
}

// A rank that ends gives back what it viewed, and the memory goes when nobody uses it.
func TestArraysOfEndedViewer(t *testing.T) {
	assert.Equal(t, "given back\n", arraysJob(t, "-n 2 -rpp 2", "viewer_ends.py").succeeded(t).stdout)
}

// A rank that ends in the midst of sharing lets the others go on; if it is killed there, all end.
func TestArraysOfEndingRank(t *testing.T) {
	for _, how := range []string{"end", "_exit"} {
		t.Run(how, func(t *testing.T) {
			assert.Equal(t, "went on\nwent on\n", arraysJob(t, "-n 3 -rpp 3", "ends.py", how).succeeded(t).stdout)
		})
	}
	for _, cleanup := range []string{"", "-disable-auto-cleanup "} {
		job := arraysJob(t, cleanup+"-n 3 -rpp 3", "ends.py", "kill")
		assert.Contains(t, job.stderr, "was killed by SIGKILL")
		began := time.Now()
		job = arraysJob(t, cleanup+"-n 3 -rpp 3", "crash.py")
		assert.Regexp(t, `(?m)^mpiexec: rank 1 .*SIGSEGV`, job.stderr)
		assert.Less(t, time.Since(began), limit/2)
	}
}

// A child that a rank forks shares nothing, and does not disturb its rank.
func TestArraysOfChildren(t *testing.T) {
	job := arraysJob(t, "-n 2 -rpp 2", "children.py").succeeded(t)
	assert.Equal(t, perRank("rank %d\n", 2), job.lines())
}

// A rank knows which ranks are in its process, however it was started, and views no others.
func TestRanksHere(t *testing.T) {
	for options, want := range map[string][]string{
		"":                   {"[0]\n"},
		"-n 3":               {"[0]\n", "[1]\n", "[2]\n"},
		"-pmi-port -n 2":     {"[0]\n", "[1]\n"},
		"-n 4 -rpp 2":        {"[0, 1]\n", "[0, 1]\n", "[2, 3]\n", "[2, 3]\n"},
		"-n 3 -rpp 2":        {"[0, 1]\n", "[0, 1]\n", "[2]\n"},
		"-pmi x -n 4 -rpp 2": {"[0, 1]\n", "[0, 1]\n", "[2, 3]\n", "[2, 3]\n"},
		"-pmi x -n 2":        {"[0]\n", "[1]\n"},
	} {
		t.Run(options, func(t *testing.T) {
			assert.Equal(t, want, arraysJob(t, options, "own.py").succeeded(t).lines())
		})
	}
}

// pip installs the package from the tree, without a network, and ranks of a virtual environment use it.
func TestPackageOfPip(t *testing.T) {
	testsupport.NothingLeft(t)
	program, folder := python(t, "venv", "numpy"), filepath.Join(t.TempDir(), "venv")
	run(t, nil, program, "-m", "venv", "--system-site-packages", folder).succeeded(t)
	installs := []string{folder + "/bin/pip", "install", "--no-index", "--disable-pip-version-check", built(t, "share/tpsl/python")}
	require.Contains(t, run(t, nil, installs...).succeeded(t).stdout, "Successfully installed tpsl-")
	script := []string{folder + "/bin/python", testScript(t, "arrays/own.py")}
	env := []string{"PYTHONDONTWRITEBYTECODE=1"}
	assert.Equal(t, "[0]\n", run(t, env, script...).succeeded(t).stdout)
	assert.Equal(t, strings.Repeat("[0, 1]\n", 2), mpiexec(t, env, "-n 2 -rpp 2", script...).succeeded(t).stdout)
	where := run(t, nil, folder+"/bin/python", "-c", "import tpsl; print(tpsl.__file__)").succeeded(t).stdout
	assert.True(t, strings.HasPrefix(where, folder), where)
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// limit bounds every job. It is generous: other tests run on the same CPUs, and gdb writes a core in some of them. It is less
// than tests/limit gives a test, which then goes on.
const limit = 80 * time.Second

// Crashes are many here; none is to write a core. What the caller has set for
// OpenMP and MPI is not what the tests expect.
func TestMain(m *testing.M) {
	var core unix.Rlimit
	_ = unix.Getrlimit(unix.RLIMIT_CORE, &core)
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Max: core.Max})
	testsupport.ClearEnvironment()
	os.Exit(m.Run())
}

// outcome is how a job ended.
type outcome struct {
	stdout, stderr string
	code           int
}

// lines returns what was printed on stdout, in the order of the text.
func (o outcome) lines() []string {
	return slices.Sorted(strings.Lines(o.stdout))
}

// succeeded requires exit code 0 and an empty stderr.
func (o outcome) succeeded(t *testing.T) outcome {
	t.Helper()
	require.Zero(t, o.code, "stdout:\n%s\nstderr:\n%s", o.stdout, o.stderr)
	require.Empty(t, o.stderr)
	return o
}

// run runs a program to its end. Entries of env are NAME=value.
func run(t *testing.T, env []string, argv ...string) outcome {
	t.Helper()
	return runFor(t, limit, env, argv...)
}

func runFor(t *testing.T, long time.Duration, env []string, argv ...string) (o outcome) {
	t.Helper()
	if long > limit {
		testsupport.Limit(t, long+limit)
	}
	o.stdout, o.stderr, o.code = testsupport.Run(t, long, env, argv...)
	return o
}

// built returns the path of something that make makes.
func built(t *testing.T, path string) string {
	t.Helper()
	return filepath.Join(testsupport.Build(t), path)
}

// mpiexec runs a job of our launcher. options are words as a user types them.
func mpiexec(t *testing.T, env []string, options string, program ...string) outcome {
	t.Helper()
	return run(t, env, slices.Concat([]string{built(t, "bin/mpiexec")}, strings.Fields(options), program)...)
}

// fixture compiles a program of testdata whose threads are ranks.
func fixture(t *testing.T, name string, flags ...string) string {
	t.Helper()
	return testsupport.CC(t, "tpslcc", "testdata/"+name+".c", append([]string{"-fopenmp", "-O2"}, flags...)...)
}

// library compiles a shared library of testdata.
func library(t *testing.T, name string, flags ...string) string {
	t.Helper()
	return testsupport.CC(t, "gcc", "testdata/"+name+".c", append([]string{"-shared", "-fPIC"}, flags...)...)
}

// example compiles a program of examples/.
func example(t *testing.T, name string) string {
	t.Helper()
	return testsupport.CC(t, "tpslcc", "../../examples/"+name+".c", "-fopenmp", "-O2")
}

// flat compiles a program for plain MPICH: a process is a rank.
func flat(t *testing.T, source string) string {
	t.Helper()
	return testsupport.CC(t, "mpicc.mpich", source, "-fopenmp", "-O2")
}

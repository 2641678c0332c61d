// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// gdbWords is a gdb that reads no settings of the user's, and then the commands.
func gdbWords(t *testing.T, commands ...string) []string {
	t.Helper()
	testsupport.Require(t, "gdb")
	words := []string{"gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-iex", "add-auto-load-safe-path " + built(t, "")}
	for _, c := range commands {
		words = append(words, "-ex", c)
	}
	return words
}

// shellLine quotes words for a shell.
func shellLine(words []string) string {
	var quoted []string
	for _, w := range words {
		quoted = append(quoted, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
	}
	return strings.Join(quoted, " ")
}

// attached runs gdb on a job of two thread ranks whose rank 1 waits in MPI_Bcast.
func attached(t *testing.T, env []string, commands ...string) outcome {
	t.Helper()
	line := shellLine(gdbWords(t, commands...)) + ` -p $PPID 2>&1`
	job := mpiexec(t, env, "-n 2 -rpp 2", fixture(t, "asks", "-g"), line)
	require.Zero(t, job.code, "stdout:\n%s\nstderr:\n%s", job.stdout, job.stderr)
	return job
}

// looksAtRanks are commands whose output seesRanks checks.
var looksAtRanks = []string{"info ranks", "rank 0", "rank 1", "info ranks", "bt"}

func seesRanks(t *testing.T, out string) {
	t.Helper()
	for _, pattern := range []string{
		`(?m)^[ *] 0 +0 +\d+ \(LWP \d+\) +bound, MPI initialised +libmpich\.so\.12 at 0x[0-9a-f]+ +in \S+$`,
		`(?m)^[ *] 1 +1 +\d+ \(LWP \d+\) +bound, MPI initialised +libmpich\.so\.12 at 0x[0-9a-f]+ +in P?MPI_Bcast$`,
		`(?m)^\* 1 +1 `,
		`(?m)^#\d+ +0x[0-9a-f]+ in P?MPI_Bcast \(\) from \S*/libmpich\.so\.12(\.\d+)*\n#\d+ +0x[0-9a-f]+ in main\._omp_fn\.0 .*asks\.c:\d+$`,
	} {
		assert.Regexp(t, pattern, out)
	}
}

// gdb sees the instances and the ranks, in the process and in its core. The commands are
// there without being asked for: gdb finds the file beside the library.
func TestGdbAttach(t *testing.T) {
	testsupport.NothingLeft(t)
	core := filepath.Join(t.TempDir(), "core")
	live := attached(t, nil, append(looksAtRanks, "info sharedlibrary libmpich", "rank 7", "rank x", "generate-core-file "+core)...).stdout
	seesRanks(t, live)
	instances := 0
	for line := range strings.Lines(live) {
		if strings.HasPrefix(line, "0x") && strings.Contains(line, mpich(t)) {
			instances++
		}
	}
	assert.Equal(t, 2, instances, live)
	assert.Contains(t, live, "rank 7 is not in this process, see info ranks\n")
	assert.Contains(t, live, "rank N, or rank N of job K: a rank of this process, see info ranks\n")

	dead := run(t, nil, append(gdbWords(t, looksAtRanks...), fixture(t, "asks", "-g"), core)...)
	require.Zero(t, dead.code, dead.stderr)
	seesRanks(t, dead.stdout)
}

// Where the MPI library has debug information, lines and variables are those of the
// rank's instance.
func TestGdbShowsLines(t *testing.T) {
	testsupport.NothingLeft(t)
	debugged := testsupport.CC(t, "mpicc.mpich", "testdata/debugged.c", "-shared", "-fPIC", "-g", "-O0")
	job := attached(t, []string{"TPSL_MPI_LIBRARY=" + debugged}, "rank 1", "bt", "frame function wait_for", "print patience", "print rank")
	source, err := os.ReadFile("testdata/debugged.c")
	require.NoError(t, err)
	before, _, _ := strings.Cut(string(source), "the line that")
	line := strings.Count(before, "\n") + 1
	assert.Regexp(t, fmt.Sprintf(`#\d+ +0x[0-9a-f]+ in wait_for \(word=0x[0-9a-f]+ <done>, patience=1001\) at \S*/debugged\.c:%d\n`, line), job.stdout)
	assert.Contains(t, job.stdout, "$1 = 1001\n$2 = 1\n")
}

// A breakpoint in the MPI library, set before it is there, holds in every instance.
func TestGdbFromTheStart(t *testing.T) {
	testsupport.NothingLeft(t)
	words := gdbWords(t, "set breakpoint pending on", "break ucp_worker_create", "run", "continue", "info breakpoints", "continue")
	job := mpiexec(t, nil, "-n 2 -rpp 2 -tpsl shared", append(words, "--args", fixture(t, "asks", "-g"), "true")...)
	require.Zero(t, job.code, job.stderr)
	for _, place := range []string{"1.1", "1.2"} {
		assert.Contains(t, job.stdout, "hit Breakpoint "+place+", ", job.stdout)
	}
	assert.Equal(t, 2, strings.Count(job.stdout, " <ucp_worker_create>"), job.stdout)
	assert.Contains(t, job.stdout, "exited normally]")
}

// A rank of private mode is a process that gdb attaches to, with the lines of its program.
func TestPrivateGdb(t *testing.T) {
	testsupport.NothingLeft(t)
	line := shellLine(gdbWords(t, "bt")) + ` -p $PPID 2>&1`
	program := testsupport.CC(t, "mpicc.mpich", "testdata/asks.c", "-fopenmp", "-g")
	job := mpiexec(t, []string{"OMP_NUM_THREADS=1"}, "-n 2 -rpp 2", program, line).succeeded(t)
	assert.Regexp(t, `(?m)^#\d+ .* in system \(\) from \S+/libtpslshim\.so\n(#.*\n)*#\d+ .* in main \(.*asks\.c:\d+$`, job.stdout)
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

var crashFlags = []string{"-g", "-O1", "-fno-optimize-sibling-calls"}

// crash runs a job of two thread ranks, the second of which crashes.
func crash(t *testing.T, how string) outcome {
	t.Helper()
	return mpiexec(t, nil, "-n 2 -rpp 2", crasher(t), how)
}

func crasher(t *testing.T) string {
	t.Helper()
	return fixture(t, "crash", crashFlags...)
}

// A crash of a rank is reported with where it happened and how it came there, and the
// process dies of the signal.
func TestCrashReport(t *testing.T) {
	reports(t, nil, crasher(t), `rank 1 \(slot 1, thread \d+\)`, "the fault was in rank 1")
}

// A rank of private mode is told in the same words.
func TestPrivateCrashReport(t *testing.T) {
	program, env := plain(t, "mpicc.mpich", "crash.c", crashFlags...), []string{"OMP_NUM_THREADS=1"}
	reports(t, env, program, `rank 1 \(process \d+, thread \d+\)`, "mpiexec: rank 1 (")
	t.Run("no_stack", func(t *testing.T) {
		testsupport.NothingLeft(t)
		job := mpiexec(t, env, "-n 2 -rpp 2", program, "no_stack")
		assert.Contains(t, job.stderr, "tpsl:   #0 0x10\ntpsl:   the stack cannot be followed further\n")
	})
	t.Run("no_thread_pointer", func(t *testing.T) {
		testsupport.NothingLeft(t)
		began := time.Now()
		job := mpiexec(t, env, "-n 2 -rpp 2", program, "no_thread_pointer")
		job.stderr = withoutHostEndsSet(began, job.stderr)
		withoutThread(t, job)
	})
	t.Run("own_handler", func(t *testing.T) {
		testsupport.NothingLeft(t)
		began := time.Now()
		job := mpiexec(t, env, "-n 2 -rpp 2", program, "own_handler")
		assert.Contains(t, job.stderr, "the program's own handler\n")
		assert.NotContains(t, withoutHostEndsSet(began, job.stderr), "tpsl:")
	})
}

// A rank is told, too, that crashes before its program begins.
func TestPrivateCrashAtStart(t *testing.T) {
	testsupport.NothingLeft(t)
	early := testsupport.CC(t, "gcc", "testdata/earlycrash.c", "-shared", "-fPIC", "-fno-builtin")
	job := mpiexec(t, []string{"OMP_NUM_THREADS=1"}, "-n 2 -rpp 2 -genv LD_PRELOAD "+early, plain(t, "mpicc.mpich", "crash.c", crashFlags...), "none")
	assert.Equal(t, int(unix.SIGSEGV), job.code)
	assert.Regexp(t, `(?m)^tpsl: rank [01] \(process \d+, thread \d+\): SIGSEGV at address 0x10 in earlycrash\S*\+0x[0-9a-f]+ \(setsid\+0x[0-9a-f]+\)$`, job.stderr)
}

// reports requires the report of each way to crash. Rank 1 crashes; the threads of OpenMP
// are the ranks, or each rank has one.
func reports(t *testing.T, env []string, program, whom, banner string) {
	const reduce = `libmpich\.so\.12\+0x[0-9a-f]+ \(P?MPI_Reduce_local\+0x[0-9a-f]+\)`
	// The system may have debugging information of libc, and the shim has that of this build.
	const aborts = `(lib(c\.so\.6|tpslshim\.so)\+0x[0-9a-f]+ \(abort\+0x[0-9a-f]+\)|abort \S+:\d+ \(lib(c\.so\.6|tpslshim\.so)\+0x[0-9a-f]+\))`
	const send = `libmpich\.so\.12\+0x[0-9a-f]+ \(P?MPI_Send\+0x[0-9a-f]+\)`
	for _, c := range []struct {
		how    string
		signal unix.Signal
		what   string // happened, and where
		frames []string
		from   string // function of the program that called the MPI library
	}{
		{"bad_buffer", unix.SIGSEGV, `SIGSEGV at address 0x10 in libc\.so\.6\+0x[0-9a-f]+.*`, []string{`libucp\.so\.0\+0x[0-9a-f]+ \(ucp_\w+\+0x[0-9a-f]+\)`, send}, "bad_buffer"},
		{"bad_function", unix.SIGSEGV, `SIGSEGV at address 0x8 in 0x8, which is in no library`, []string{`0x8`, reduce}, "reduce_with"},
		{"divide", unix.SIGFPE, `SIGFPE in crash\+0x[0-9a-f]+`, []string{reduce}, "reduce_with"},
		{"abort_inside", unix.SIGABRT, `SIGABRT in libc\.so\.6\+0x[0-9a-f]+.*`, []string{aborts, send}, "abort_inside"},
		{"overflow", unix.SIGSEGV, `SIGSEGV at address 0x[0-9a-f]+ in crash\+0x[0-9a-f]+`, []string{`deeper testdata/crash\.c:\d+ \(crash\+0x[0-9a-f]+\)`}, ""},
	} {
		t.Run(c.how, func(t *testing.T) {
			testsupport.NothingLeft(t)
			job := mpiexec(t, env, "-n 2 -rpp 2", program, c.how)
			assert.Equal(t, int(c.signal), job.code)
			assert.Contains(t, job.stderr, fmt.Sprintf(" killed by %s (%d, ", unix.SignalName(c.signal), c.signal))
			assert.Contains(t, job.stderr, banner)
			assert.Regexp(t, `(?m)^tpsl: `+whom+`: `+c.what+`$`, job.stderr)
			for _, frame := range c.frames {
				assert.Regexp(t, `(?m)^tpsl:   #\d+ `+frame+`$`, job.stderr)
			}
			if c.from != "" {
				assert.Equal(t, c.from, callerOf(t, program, job.stderr))
			}
		})
	}
}

// callerOf returns the function of the program below the last frame of the MPI library. Its name and line are those that
// addr2line gives for the report's offset.
func callerOf(t *testing.T, program, report string) string {
	t.Helper()
	testsupport.Require(t, "addr2line")
	all := regexp.MustCompile(`(?m)^tpsl:   #\d+ libmpich.*\ntpsl:   #\d+ (\w+) testdata/(crash\.c:\d+) \(crash\+(0x[0-9a-f]+)\)$`).FindAllStringSubmatch(report, -1)
	require.NotEmpty(t, all, report)
	last := all[len(all)-1]
	found := run(t, nil, "addr2line", "-f", "-s", "-e", program, last[3]).succeeded(t)
	function, line, _ := strings.Cut(found.stdout, "\n")
	line, _, _ = strings.Cut(strings.TrimSpace(line), " ") // of a discriminator
	assert.Equal(t, []string{function, line}, last[1:3])
	return function
}

// A report that faults itself ends, and the crash takes its course.
func TestCrashReportCannotFollow(t *testing.T) {
	testsupport.NothingLeft(t)
	job := crash(t, "no_stack")
	assert.Equal(t, int(unix.SIGSEGV), job.code)
	assert.Contains(t, job.stderr, "tpsl:   #0 0x10\ntpsl:   the stack cannot be followed further\n")
}

// Where even libc does not work, one line says so, and the crash takes its course.
func TestCrashWithoutThreadPointer(t *testing.T) {
	testsupport.NothingLeft(t)
	withoutThread(t, crash(t, "no_thread_pointer"))
}

func withoutThread(t *testing.T, job outcome) {
	t.Helper()
	assert.Equal(t, int(unix.SIGSEGV), job.code)
	assert.Regexp(t, `(?m)^tpsl: a thread crashed without thread-local variables, at 0x[0-9a-f]{16}$`, job.stderr)
	assert.Equal(t, 1, strings.Count(job.stderr, "tpsl: "), job.stderr)
}

// A program that handles the signal hears of it, and nobody else.
func TestCrashHandledByTheProgram(t *testing.T) {
	testsupport.NothingLeft(t)
	job := crash(t, "own_handler")
	assert.Equal(t, int(unix.SIGSEGV), job.code)
	assert.Contains(t, job.stderr, "the program's own handler\n")
	assert.NotContains(t, job.stderr, "tpsl:")
}

// The core of a crash has instances and all.
func TestCrashCore(t *testing.T) {
	testsupport.NothingLeft(t)
	job := run(t, nil, append(gdbWords(t, "info ranks", "bt"), crasher(t), coreOf(t, "bad_buffer"))...)
	require.Zero(t, job.code, job.stderr)
	assert.Contains(t, job.stdout, "Program terminated with signal SIGSEGV")
	assert.Regexp(t, `(?m)^\* 1 +1 +\d+ \(LWP \d+\) +bound, MPI initialised .* in P?MPI_Send$`, job.stdout)
	assert.Regexp(t, `(?m)^#\d+ +0x[0-9a-f]+ in P?MPI_Send \(\) from \S*/libmpich\.so\.12\S*\n#\d+ +0x[0-9a-f]+ in bad_buffer \(\)`, job.stdout)
}

// coreOf returns the core that the kernel writes at a crash. Where the machine leads cores
// elsewhere, to a program or a folder, gdb writes one at the same instruction.
func coreOf(t *testing.T, how string) string {
	t.Helper()
	pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	require.NoError(t, err)
	folder := t.TempDir()
	job := []string{built(t, "bin/mpiexec"), "-n", "2", "-rpp", "2"}
	if strings.ContainsAny(string(pattern), "|/") {
		core := filepath.Join(folder, "core")
		job = append(append(job, "-tpsl", "shared"), gdbWords(t, "run "+how, "generate-core-file "+core, "kill")...)
		assert.Contains(t, run(t, nil, append(job, crasher(t))...).stdout, "Saved corefile "+core)
		return core
	}
	line := "ulimit -c unlimited && cd " + folder + " && exec " + shellLine(append(job, crasher(t), how))
	assert.Equal(t, 128+int(unix.SIGSEGV), run(t, nil, "bash", "-c", line).code, "128 stands for a core in the status that mpiexec passes on")
	cores, err := filepath.Glob(filepath.Join(folder, "*core*"))
	require.NoError(t, err)
	require.Len(t, cores, 1)
	return cores[0]
}

// A program's own stack for signal handlers stays, and ours go with their threads.
func TestSignalStacks(t *testing.T) {
	testsupport.NothingLeft(t)
	job := mpiexec(t, []string{"OMP_NUM_THREADS=1"}, "-n 1", fixture(t, "sigstack")).succeeded(t)
	assert.Equal(t, "0 threads without a stack, 0 stacks changed, none left\n", job.stdout)
}

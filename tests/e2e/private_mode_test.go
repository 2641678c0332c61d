// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// plain compiles a program of testdata for plain MPICH.
func plain(t *testing.T, compiler, name string, flags ...string) string {
	t.Helper()
	return testsupport.CC(t, compiler, "testdata/"+name, append([]string{"-fopenmp", "-O2"}, flags...)...)
}

// A flat program runs as several ranks of one address space, in one or several sets.
func TestPrivateExamples(t *testing.T) {
	testsupport.NothingLeft(t)
	hello, halo := flat(t, "../../examples/hello.c"), flat(t, "../../examples/halo.c")
	one := []string{"OMP_NUM_THREADS=1"} // more would call MPI_Init twice in a flat process
	layout := "4 processes x 1 thread rank"
	assert.Equal(t, checksum(t, mpiexec(t, one, "-n 4", halo), layout), checksum(t, mpiexec(t, one, "-n 4 -rpp 4", halo), layout))
	for _, options := range []string{"-n 2 -rpp 2", "-n 4 -rpp 2", "-n 3 -rpp 2", "-n 4 -rpp 4"} {
		t.Run(options, func(t *testing.T) {
			ranks := int(options[3] - '0')
			lines := mpiexec(t, one, options, hello).succeeded(t).lines()
			require.Len(t, lines, ranks)
			for rank, line := range lines {
				assert.Contains(t, line, fmt.Sprintf("hello from rank %d of %d:", rank, ranks))
			}
		})
	}
}

// The ranks are processes in one address space: what one has at an address, another
// reads there.
func TestPrivateSharesMemory(t *testing.T) {
	testsupport.NothingLeft(t)
	program := plain(t, "mpicc.mpich", "peek.c")
	assert.Equal(t, "rank 1 reads 42\n", mpiexec(t, nil, "-n 2 -rpp 2", program).succeeded(t).stdout)
	assert.NotZero(t, mpiexec(t, nil, "-n 2", program).code, "flat ranks have memories of their own")
}

// What a process has to itself, a rank of private mode has: each way to end gives what it
// gives flat, word for word, but for process ids, traces of UCX and our report of a crash.
func TestPrivateIsAsFlat(t *testing.T) {
	allEndsAsFlat(t, "UCX_HANDLE_ERRORS=none", plain(t, "mpicc.mpich", "alone.c"), nil)
}

// allEndsAsFlat compares all ways in which alone.c ends, but that by chance rank 0 may say nothing in some of them. The setting
// keeps the MPI library from its own report of a crash.
func allEndsAsFlat(t *testing.T, setting, program string, chance []string) {
	t.Helper()
	ours := regexp.MustCompile(`(?m)^\[1\] tpsl: .*\n`)
	for _, end := range []string{"return", "exit", "_exit", "errx", "quick_exit", "pthread_exit", "abort", "crash", "early", "mpi_abort"} {
		t.Run(end, func(t *testing.T) {
			testsupport.NothingLeft(t)
			env := []string{setting, "TMPDIR=" + t.TempDir()}
			want := mpiexec(t, env, "-n 2 -l", program, end)
			began := time.Now()
			got := mpiexec(t, env, "-n 2 -rpp 2 -l", program, end)
			assert.Equal(t, want.code, got.code)
			wantLines, gotLines := want.lines(), got.lines()
			if ofFirst := func(line string) bool { return strings.HasPrefix(line, "[0]") }; slices.Contains(chance, end) &&
				slices.ContainsFunc(wantLines, ofFirst) != slices.ContainsFunc(gotLines, ofFirst) { // one was killed before it wrote: it writes all at its end
				wantLines, gotLines = slices.DeleteFunc(wantLines, ofFirst), slices.DeleteFunc(gotLines, ofFirst)
			}
			assert.Equal(t, strings.Join(wantLines, "\n"), strings.Join(gotLines, "\n"))
			assert.Equal(t, inAnyOrder(want.stderr), inAnyOrder(ours.ReplaceAllString(withoutHostEndsSet(began, got.stderr), "")))
		})
	}
}

// inAnyOrder returns the lines of a text in an order of their own, without process ids.
func inAnyOrder(text string) []string {
	return slices.Sorted(strings.Lines(regexp.MustCompile(`PID \d+`).ReplaceAllString(text, "PID N")))
}

// C++ and OpenMP: thread-locals, exceptions, streams; every rank has a runtime of its own.
func TestPrivateCxx(t *testing.T) {
	testsupport.NothingLeft(t)
	program := plain(t, "mpicxx.mpich", "everything.cc")
	for _, ranks := range []int{2, 4} {
		options := fmt.Sprintf("-n %d", ranks)
		mine, flats := t.TempDir()+"/", t.TempDir()+"/"
		got := mpiexec(t, nil, fmt.Sprintf("%s -rpp %d", options, ranks), program, mine).succeeded(t)
		assert.Equal(t, mpiexec(t, nil, options, program, flats).succeeded(t).lines(), got.lines())
		for rank := range ranks {
			text, err := os.ReadFile(fmt.Sprintf("%s%d", mine, rank))
			require.NoError(t, err)
			assert.Equal(t, fmt.Sprintf("global%d", rank), string(text), "exit flushes streams that are open")
		}
	}
}

// 64 ranks of a C++ program with OpenMP in one address space have flat's answers.
func TestPrivateMany(t *testing.T) {
	testsupport.NothingLeft(t)
	program := plain(t, "mpicxx.mpich", "everything.cc")
	patient := func(options ...string) []string {
		argv := append([]string{built(t, "bin/mpiexec"), "-n", "64"}, append(options, program)...)
		return runFor(t, 4*time.Minute, nil, argv...).succeeded(t).lines()
	}
	assert.Equal(t, patient(), patient("-rpp", "64"))
}

func TestPrivateFortran(t *testing.T) {
	testsupport.NothingLeft(t)
	program := plain(t, "mpif90.mpich", "everything.f90")
	mine := t.TempDir() + "/"
	want := mpiexec(t, nil, "-n 2", program, t.TempDir()+"/")
	got := mpiexec(t, nil, "-n 2 -rpp 2", program, mine)
	assert.Equal(t, 4, got.code)
	assert.Equal(t, want.code, got.code)
	assert.Equal(t, want.stderr, got.stderr)
	assert.Equal(t, want.lines(), got.lines())
	for rank := range 2 {
		text, err := os.ReadFile(fmt.Sprintf("%s%d", mine, rank))
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprintf("saved%d\n", 7+rank), string(text))
	}
}

// Programs that cannot be loaded once per rank are refused by name, with what to do.
func TestPrivateRefusals(t *testing.T) {
	testsupport.NothingLeft(t)
	hello := flat(t, "../../examples/hello.c")
	fixed := testsupport.CC(t, "mpicc.mpich", "../../examples/hello.c", "-fopenmp", "-no-pie")
	static := testsupport.CC(t, "gcc", "testdata/nothing.c", "-static")
	heap := testsupport.CC(t, "gcc", "testdata/nothing.c", "-Wl,"+testsupport.CC(t, "gcc", "testdata/mallocs.c", "-c", "-fno-builtin", "-fPIC"))
	image, err := os.ReadFile(hello)
	require.NoError(t, err)
	setuid := filepath.Join(t.TempDir(), "setuid")
	require.NoError(t, os.WriteFile(setuid, image, 0o700))
	require.NoError(t, os.Chmod(setuid, 0o700|os.ModeSetuid))
	script := filepath.Join(t.TempDir(), "script")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\n"+hello+"\n"), 0o700))
	for _, c := range []struct{ options, program, why string }{
		{"", fixed, `-rpp 2 loads the program once per rank, but it is not position-independent; rebuild it with -fPIE -pie ` +
			`(configure: CFLAGS=-fPIE CXXFLAGS=-fPIE FCFLAGS=-fPIE LDFLAGS=-pie; CMake: -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_EXE_LINKER_FLAGS=-pie), or use -rpp 1`},
		{"-tpsl private", static, `-rpp 2 loads the program once per rank, but it is statically linked; link it with shared libraries, or use -rpp 1`},
		{"", setuid, `-rpp 2 loads the program once per rank, but it is setuid or setgid; remove these bits, or use -rpp 1`},
		{"-tpsl private", script, `-rpp 2 needs an ELF program or one of Python, which this is not; use -tpsl shared if it starts one, or -rpp 1`},
		{"-tpsl private", example(t, "hello"), `-tpsl private is for flat programs, but this one is linked with libtpsl; use -tpsl shared`},
		{"-tpsl private", heap, `-rpp 2 loads the program once per rank, but it is a heap as well (it defines free), which the C library would not use; link it with the heap as a shared library, or use -rpp 1`},
		{"", "/bin/true", `-rpp 2 needs a program linked with libtpsl, MPICH or Open MPI; relink it with tpslcc, use -tpsl private if it loads its MPI library later, or -rpp 1`},
	} {
		job := mpiexec(t, nil, "-n 2 -rpp 2 "+c.options, c.program)
		assert.Equal(t, 255, job.code)
		assert.Regexp(t, `^mpiexec: cannot run \S+ on \S+: `+regexp.QuoteMeta(c.why)+`\n$`, job.stderr)
	}
}

// A killed host takes its ranks along.
func TestPrivateHostKilled(t *testing.T) {
	testsupport.NothingLeft(t)
	program := plain(t, "mpicc.mpich", "peek.c")
	job := mpiexec(t, nil, "-n 2 -rpp 2", program, "kill")
	assert.Equal(t, 9, job.code, strings.TrimSpace(job.stderr))
}

// A shell, which knows nothing of MPI, runs as two ranks with variables, children and exit
// codes of their own.
func TestPrivateShell(t *testing.T) {
	testsupport.NothingLeft(t)
	job := mpiexec(t, nil, "-l -n 2 -rpp 2 -tpsl private", "/bin/bash", "-c", "x=$(echo of $PMI_SIZE); echo rank $PMI_RANK $x; exit $((PMI_RANK + 2))")
	assert.Equal(t, 2|3, job.code)
	assert.Equal(t, []string{"[0] rank 0 of 2\n", "[1] rank 1 of 2\n"}, job.lines())
}

// The end of a rank counts as it was, however late its host tells of it: here the host stands still meanwhile.
func TestPrivateLateEnd(t *testing.T) {
	testsupport.NothingLeft(t)
	const text = `printf 'cmd=init pmi_version=1 pmi_subversion=1\n' >&$PMI_FD; read -u $PMI_FD
[ $PMI_RANK = 1 ] || exec sleep 60
kill -STOP $PPID
{ eval "exec $PMI_FD>&-"; sleep 1.5; kill -CONT $PPID; } &
exit 9`
	job := mpiexec(t, nil, "-n 2 -rpp 2 -tpsl private", "/bin/bash", "-c", text)
	assert.Equal(t, 9, job.code)
	oneLine(t, job, "mpiexec", "rank 1 (/bin/bash on ", "exited with status 9 without MPI_Finalize of rank 1\n")
}

// A signal to mpiexec reaches every rank.
func TestPrivateSignal(t *testing.T) {
	testsupport.NothingLeft(t)
	program, ready := plain(t, "mpicc.mpich", "peek.c"), filepath.Join(t.TempDir(), "ready")
	script := `"$0" -n 2 -rpp 2 "$1" "$2" & until [ -e "$2" ]; do sleep 0.02; done; kill -USR1 $!; wait $!`
	job := run(t, nil, "sh", "-c", script, built(t, "bin/mpiexec"), program, ready).succeeded(t)
	assert.Equal(t, []string{"rank 0 caught SIGUSR1\n", "rank 1 caught SIGUSR1\n", "rank 1 reads 42\n"}, job.lines())
}

// tpsl run is a job of one rank set without a launcher of the user's.
func TestTpslRun(t *testing.T) {
	testsupport.NothingLeft(t)
	program := plain(t, "mpicc.mpich", "peek.c")
	allocation := []string{"SLURM_JOB_ID=1", "SLURM_NTASKS=4", "SLURM_JOB_NODELIST=n[1-4]", "SLURM_TASKS_PER_NODE=1(x4)"} // of no matter
	assert.Equal(t, "rank 1 reads 42\n", run(t, allocation, built(t, "bin/tpsl"), "run", "-rpp", "2", program).succeeded(t).stdout)
	for _, c := range []struct{ args, stderr string }{
		{"run", "tpsl run: no program given; try tpsl run -h\n"},
		{"run -rpp 0 x", "tpsl run: -rpp 0: want a number from 1; try tpsl run -h\n"},
		{"run -n 2 x", "tpsl run: unknown option -n; try tpsl run -h\n"},
	} {
		job := run(t, nil, append([]string{built(t, "bin/tpsl")}, strings.Fields(c.args)...)...)
		assert.Equal(t, outcome{stderr: c.stderr, code: 255}, job)
	}
}

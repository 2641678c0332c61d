// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// plugin compiles a library for plain MPICH.
func plugin(t *testing.T) string {
	t.Helper()
	return testsupport.CC(t, "mpicc.mpich", "testdata/plugin.c", "-shared", "-fPIC", "-O2")
}

// late compiles a program that is linked neither with tpsl nor with MPI.
func late(t *testing.T) string {
	t.Helper()
	return testsupport.CC(t, "gcc", "testdata/late.c", "-O2")
}

// A program opens the stand-in, and then libraries that were linked with MPICH: their calls are the ranks'.
func TestLate(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, ranks := range []int{2, 4} {
		job := run(t, nil, late(t), strconv.Itoa(ranks), built(t, "lib/tpsl/libmpich.so.12"), plugin(t)).succeeded(t)
		assert.Equal(t, fmt.Sprintf("late: %d ranks, 0 wrong\n", ranks), job.stdout)
	}
	// libtpsl alone does for a library that tpslcc has linked.
	own := testsupport.CC(t, "tpslcc", "testdata/plugin.c", "-shared", "-fPIC", "-O2")
	job := run(t, nil, late(t), "3", built(t, "lib/libtpsl.so.0"), own).succeeded(t)
	assert.Equal(t, "late: 3 ranks, 0 wrong\n", job.stdout)
}

// Ranks within one ordinary interpreter of Python share its objects.
func TestLateInPython(t *testing.T) {
	testsupport.NothingLeft(t)
	env := []string{"PATH=" + built(t, "bin") + ":" + os.Getenv("PATH")}
	for ranks, squares := range map[string]string{"2": "[0, 1]", "4": "[0, 1, 4, 9]"} {
		job := run(t, env, python(t), "../../examples/python/within.py", ranks).succeeded(t)
		assert.Equal(t, ranks+" ranks, squares "+squares+", 0 wrong\n", job.stdout)
	}
}

// An MPI library that is there before the stand-in is what a program's calls lead to.
func TestLateBehindAnMPILibrary(t *testing.T) {
	testsupport.NothingLeft(t)
	env := []string{"PATH=" + built(t, "bin") + ":" + os.Getenv("PATH")}
	const says = "load lib/tpsl/libmpich.so.12 first"
	job := run(t, nil, late(t), "2", built(t, "lib/libtpsl.so.0"), plugin(t))
	assert.Equal(t, 1, job.code)
	oneLine(t, job, "tpsl", "TPSL_Run: the program has loaded ", says)
	program := "import ctypes, runpy; ctypes.CDLL('libmpich.so.12', ctypes.RTLD_GLOBAL); runpy.run_path('../../examples/python/within.py')"
	job = run(t, env, python(t), "-c", program, "2")
	assert.Equal(t, 1, job.code)
	oneLine(t, job, "tpsl", "TPSL_Run: the program has loaded ", says)
}

// glibc keeps room for thread-local storage of libraries that are opened late. What took it before leaves none for libtpsl; a setting of glibc's makes more.
func TestLateWithoutRoom(t *testing.T) {
	testsupport.NothingLeft(t)
	libtpsl := built(t, "lib/libtpsl.so.0")
	taken := func(bytes int) string {
		return testsupport.CC(t, "gcc", "testdata/older.c", "-shared", "-fPIC", "-ftls-model=initial-exec", fmt.Sprintf("-DTHREAD_LOCAL=%d", bytes))
	}
	opens := func(env []string, first string) outcome {
		return run(t, env, python(t), "-c", "import ctypes, sys; [ctypes.CDLL(name) for name in sys.argv[1:]]", first, libtpsl)
	}
	opens(nil, taken(600)).succeeded(t)
	refused := opens(nil, taken(1400))
	assert.Equal(t, 1, refused.code)
	assert.Regexp(t, `\nOSError: `+filepath.Clean(libtpsl)+`: cannot allocate memory in static TLS block\n$`, refused.stderr)
	opens([]string{"GLIBC_TUNABLES=glibc.rtld.optional_static_tls=2048"}, taken(1400)).succeeded(t)
}

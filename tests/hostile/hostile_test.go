// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

const (
	threads = 8
	limit   = 3 * time.Minute // for one run
)

// libraries are the work for each of them, and how it is built.
var libraries = []struct {
	name, compiler, source string
	flags                  []string
}{
	{"netCDF in C", "gcc", "netcdf.c", []string{"-Wall", "-Wextra", "-Werror", "-lnetcdf"}},
	{"GiNaC in C++", "g++", "ginac.cc", []string{"-Wall", "-Wextra", "-Werror", "-lginac", "-lcln"}},
	{"ARPACK in Fortran", "gfortran", "arpack.f90", []string{"-Wall", "-Werror", "-frecursive", "-larpack"}},
}

// forEach runs a test for each library, with the file of its work.
func forEach(t *testing.T, test func(t *testing.T, work string)) {
	for _, l := range libraries {
		t.Run(l.name, func(t *testing.T) {
			testsupport.NothingLeft(t)
			test(t, testsupport.CC(t, l.compiler, "../../examples/hostile/"+l.source, append([]string{"-O2", "-shared", "-fPIC"}, l.flags...)...))
		})
	}
}

// processes returns what as many processes as threads, all at once, make of the work.
func processes(t *testing.T, work string) string {
	t.Helper()
	program := testsupport.CC(t, "gcc", "testdata/process.c", "-Wall", "-Wextra", "-Werror")
	lines := make([]string, threads)
	var all sync.WaitGroup
	for seed := range lines {
		all.Go(func() {
			out, stderr, code, err := testsupport.Output(limit, nil, program, work, fmt.Sprint(seed))
			if assert.NoError(t, err) && assert.Zero(t, code, stderr) {
				lines[seed] = out
			}
		})
	}
	all.Wait()
	return strings.Join(lines, "")
}

// goroutines builds the example in Go.
var goroutines = sync.OnceValues(func() (string, error) {
	program, err := filepath.Abs("../../build/examples/hostile-go")
	if err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-o", program, "../../examples/hostile/go").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return program, nil
})

// examples returns the programs that open the copies, in C and in Go.
func examples(t *testing.T) []string {
	t.Helper()
	inGo, err := goroutines()
	require.NoError(t, err)
	return []string{testsupport.CC(t, "tpslcc", "../../examples/hostile/copies.c", "-O2", "-Wall", "-Wextra", "-Werror"), inGo}
}

// Eight threads with a copy each give what eight processes give, time after time.
func TestCopies(t *testing.T) {
	programs := examples(t)
	forEach(t, func(t *testing.T, work string) {
		want := processes(t, work)
		for _, program := range programs {
			for range 4 {
				stdout, stderr, code := testsupport.Run(t, limit, nil, program, work)
				assert.Zero(t, code, stderr)
				assert.Equal(t, want, stdout, program)
			}
		}
	})
}

// With one copy for all they crash, or give something else, or do not end: the examples show
// what they are meant to show.
func TestOneCopyForAllGoesWrong(t *testing.T) {
	program := examples(t)[0]
	forEach(t, func(t *testing.T, work string) {
		for end, run := time.Now().Add(2*time.Minute), 1; time.Now().Before(end); run++ {
			_, stderr, code, err := testsupport.Output(time.Minute, nil, program, "-shared", work)
			if errors.Is(err, testsupport.ErrTimeout) {
				t.Logf("run %d: %v", run, err)
				return
			}
			require.NoError(t, err)
			if code != 0 {
				first, _, _ := strings.Cut(stderr, "\n")
				t.Logf("run %d: %s", run, first)
				return
			}
		}
		t.Error("one copy has served eight threads for two minutes")
	})
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package posix

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

const (
	ranks = 4
	limit = 2 * time.Minute // of a job
	least = 100             // programs
)

func TestMain(m *testing.M) {
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	testsupport.ClearEnvironment()
	os.Exit(m.Run())
}

// outcome is what a job leaves: its words, line by line in an order of their own, its exit code,
// and the files that it wrote, by name.
type outcome struct {
	stdout, stderr []string
	code           int
	files          map[string]string
}

var (
	// The report of a crash is ours alone.
	report = regexp.MustCompile(`(?m)^\[\d\] tpsl: .*\n`)
	number = regexp.MustCompile(`PID \d+`)
)

// lines leaves out whether the last one ends, as the rank that was last may be any.
func lines(text string) []string {
	return slices.Sorted(strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n"))
}

func run(t *testing.T, options []string, program, name string) outcome {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(folder), 0o755)) // for programs that give up being root
	require.NoError(t, os.Chmod(folder, 0o755))
	for rank := range ranks {
		require.NoError(t, os.Mkdir(filepath.Join(folder, fmt.Sprint(rank)), 0o777))
	}
	mpiexec := filepath.Join(testsupport.Build(t), "bin", "mpiexec")
	argv := append([]string{mpiexec, "-l", "-n", fmt.Sprint(ranks), "-genv", "OMP_STACKSIZE", "64K"}, options...)
	stdout, stderr, code := testsupport.Run(t, limit, nil, append(argv, program, name, folder)...)
	stdout = strings.ReplaceAll(stdout, folder, "FOLDER")
	stderr = number.ReplaceAllString(report.ReplaceAllString(strings.ReplaceAll(stderr, folder, "FOLDER"), ""), "PID N")
	return outcome{lines(stdout), lines(stderr), code, files(t, folder)}
}

func files(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		found[strings.TrimPrefix(path, folder)] = string(content)
		return err
	}))
	return found
}

// A source is compiled by what its name says.
func compile(t *testing.T, source string) string {
	t.Helper()
	flags := []string{"-D_GNU_SOURCE", "-O1", "-pthread"}
	switch {
	case filepath.Ext(source) == ".cc":
		return testsupport.CC(t, "g++", source, flags...)
	case filepath.Base(source) == "mpi.c":
		return testsupport.CC(t, "mpicc.mpich", source, flags...)
	case filepath.Base(source) == "openmp.c":
		return testsupport.CC(t, "mpicc.mpich", source, append(flags, "-fopenmp")...)
	}
	return testsupport.CC(t, "gcc", source, append(flags, "-rdynamic", "-lm")...)
}

func TestPrivateRanksAreAsFlat(t *testing.T) {
	testsupport.NothingLeft(t)
	sources, err := filepath.Glob("testdata/*.c*")
	require.NoError(t, err)
	count := 0
	for _, source := range sources {
		area := strings.TrimSuffix(filepath.Base(source), filepath.Ext(source))
		program := compile(t, source)
		names, stderr, code := testsupport.Run(t, limit, nil, program)
		require.Zero(t, code, stderr)
		for _, name := range strings.Fields(names) {
			count++
			t.Run(area+"/"+name, func(t *testing.T) {
				t.Parallel()
				want := run(t, nil, program, name)
				require.Less(t, want.code, 98, want.stderr) // by posix.h, 99 is a call that went wrong
				got := run(t, []string{"-rpp", fmt.Sprint(ranks), "-tpsl", "private"}, program, name)
				assert.Equal(t, want.stdout, got.stdout)
				assert.Equal(t, want.stderr, got.stderr)
				assert.Equal(t, want.code, got.code)
				assert.Equal(t, want.files, got.files)
			})
		}
	}
	require.GreaterOrEqual(t, count, least)
	t.Logf("%d programs", count)
}

// Memory of the program's own is not made larger: docs/private-mode.md says how much of it is taken.
func TestOwnStacks(t *testing.T) {
	testsupport.NothingLeft(t)
	program := compile(t, "testdata/limits/stacks.c")
	text := func(refusedBelow int) (want []string) {
		for kib := 16; kib <= 128; kib += 16 {
			result := "Success"
			if kib < refusedBelow {
				result = "Invalid argument"
			}
			for rank := range ranks {
				want = append(want, fmt.Sprintf("[%d] %d KiB: %s", rank, kib, result))
			}
		}
		slices.Sort(want)
		return want
	}
	assert.Equal(t, text(0), run(t, nil, program, "own").stdout)
	assert.Equal(t, text(64+16), run(t, []string{"-rpp", fmt.Sprint(ranks), "-tpsl", "private"}, program, "own").stdout)
}

// As nohup opens stdin. Another launcher gives such descriptors to what starts the ranks.
func TestOtherDirections(t *testing.T) {
	testsupport.NothingLeft(t)
	program := compile(t, "testdata/limits/directions.c")
	shell := []string{"sh", "-c", `exec "$@" 0>/dev/null 1</dev/null 2</dev/null`, "sh"}
	want := run(t, shell, program, "others")
	require.Len(t, want.files, ranks)
	tpsl := filepath.Join(testsupport.Build(t), "bin", "tpsl")
	got := run(t, append(shell, tpsl, "run", "-rpp", fmt.Sprint(ranks), "-tpsl", "private"), program, "others")
	assert.Equal(t, want, got)
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
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
	limit = 5 * time.Minute // of a job
	least = 40              // programs
)

// An mpiInterface is a folder of testdata, and the compilers of its programs.
type mpiInterface struct{ name, flat, threads string }

var interfaces = []mpiInterface{
	{"mpif", "mpif90.mpich", "tpslfort"},
	{"mpi", "mpif90.mpich", "tpslfort"},
	{"f08", "mpif90.mpich", "tpslfort"},
	{"cxx", "mpicxx.mpich", "tpslcxx"},
}

// Every interface has a program for each area.
var areas = []string{"p2p", "coll", "types", "rma", "io", "topo", "attr", "err", "ops", "comm", "info", "requests"}

func TestMain(m *testing.M) {
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	testsupport.ClearEnvironment()
	os.Exit(m.Run())
}

// A program is a source, its two executables, and a folder for what it leaves.
type program struct {
	flat, threads string
	dir           string
}

func compile(t *testing.T, i mpiInterface, source string) program {
	t.Helper()
	dir := t.TempDir()
	// Modules of Fortran are files; programs have some of the same name.
	modules := filepath.Join(testsupport.Root(t), "build", "suite", source)
	require.NoError(t, os.MkdirAll(modules, 0o777))
	flags := []string{"-fopenmp", "-O1", "-Itestdata"}
	if i.name != "cxx" {
		flags = append(flags, "-J"+modules)
	}
	return program{testsupport.CC(t, i.flat, source, flags...), testsupport.CC(t, i.threads, source, flags...), dir}
}

// outcome is what a job leaves: its words, its exit code, and the length and checksum of
// the file that it was told to write.
type outcome struct {
	stdout, stderr, file string
	code                 int
}

// run starts a job. The program's argument is the name of a file of its own.
func (p program) run(t *testing.T, name string, env []string, argv ...string) (o outcome) {
	t.Helper()
	file := filepath.Join(p.dir, name)
	o.stdout, o.stderr, o.code = testsupport.Run(t, limit, env, append(argv, file)...)
	content, err := os.ReadFile(file)
	if err != nil {
		require.ErrorIs(t, err, os.ErrNotExist)
	}
	o.file = fmt.Sprintf("%d bytes, %x", len(content), sha256.Sum256(content))
	return o
}

func (p program) runFlat(t *testing.T, name string) (o outcome) {
	t.Helper()
	for try := 0; try < 5 && o.stdout == ""; try++ { // under load, Hydra prints nothing about once in 200
		o = p.run(t, name, []string{"OMP_NUM_THREADS=1"}, "mpiexec.hydra", "-n", "4", p.flat)
	}
	return o
}

// runThreads runs thread ranks. options are words as a user types them.
func (p program) runThreads(t *testing.T, name, options, executable string) outcome {
	t.Helper()
	mpiexec := filepath.Join(testsupport.Build(t), "bin", "mpiexec")
	return p.run(t, name, nil, slices.Concat([]string{mpiexec, "-n", "4"}, strings.Fields(options), []string{executable})...)
}

// runPrivate runs the flat program with a copy per rank.
func (p program) runPrivate(t *testing.T, name, perProcess string) outcome {
	t.Helper()
	mpiexec := filepath.Join(testsupport.Build(t), "bin", "mpiexec")
	return p.run(t, name, []string{"OMP_NUM_THREADS=1"}, mpiexec, "-n", "4", "-rpp", perProcess, p.flat)
}

func TestAllModesAreAlike(t *testing.T) {
	testsupport.Require(t, "mpiexec.hydra")
	testsupport.NothingLeft(t)
	count := 0
	for _, i := range interfaces {
		for _, area := range areas {
			name := i.name + "/" + area
			sources, err := filepath.Glob("testdata/" + name + ".*")
			require.NoError(t, err)
			require.Len(t, sources, 1, "programs for %s", name)
			count++
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				p := compile(t, i, sources[0])
				want := p.runFlat(t, "flat")
				require.Zero(t, want.code, want.stderr)
				require.Empty(t, want.stderr)
				require.True(t, strings.HasPrefix(want.stdout, name+": 4 ranks, ") && strings.HasSuffix(want.stdout, ", 0 wrong\n"), want.stdout)
				assert.Equal(t, want, p.runThreads(t, "4", "-rpp 4", p.threads), "four ranks in a process")
				assert.Equal(t, want, p.runThreads(t, "2", "-rpp 2 -tpsl shared", p.flat), "the flat program itself, two ranks in each of two processes")
				assert.Equal(t, want, p.runPrivate(t, "private", "2"), "two copies of the flat program in each of two address spaces")
			})
		}
	}
	require.GreaterOrEqual(t, count, least)
	t.Logf("%d programs", count)
}

// A program that finds something wrong says so and fails, in every mode.
func TestWrongResultsShow(t *testing.T) {
	testsupport.Require(t, "mpiexec.hydra")
	testsupport.NothingLeft(t)
	for source, i := range map[string]mpiInterface{"testdata/wrong.f90": interfaces[2], "testdata/wrong.cc": interfaces[3]} {
		t.Run(source, func(t *testing.T) {
			p := compile(t, i, source)
			for _, o := range []outcome{p.runFlat(t, "flat"), p.runThreads(t, "4", "-rpp 4", p.threads), p.runPrivate(t, "private", "4")} {
				assert.Equal(t, 1, o.code)
				assert.Contains(t, o.stdout, "wrong: 4 ranks, digest 0, 1 wrong\n")
				assert.Contains(t, o.stderr, "rank 2: wrong: as it should be\n")
			}
		})
	}
}

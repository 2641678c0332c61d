// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// mpiGoProgram builds a command of this module that calls MPI, as a user of package ranks does.
func mpiGoProgram(t *testing.T, folder string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), filepath.Base(folder))
	_, stderr, code := testsupport.Run(t, limit, []string{"CC=" + built(t, "bin/tpslcc"), "CGO_ENABLED=1"}, "go", "build", "-C", testsupport.Root(t), "-tags", "mpi", "-o", program, folder)
	require.Zero(t, code, stderr)
	return program
}

// Functions of a Go program are ranks, whose errors are values of Go.
func TestGoRanks(t *testing.T) {
	testsupport.NothingLeft(t)
	assert.Equal(t, "3 ranks: pi is 3.141593\n", run(t, nil, mpiGoProgram(t, "./examples/ranks"), "3").succeeded(t).stdout)
	program := mpiGoProgram(t, "./tests/e2e/testdata/goranks")
	right := "\"<nil>\"\n"
	assert.Equal(t, "\"run 0 ranks: want 1 or more\"\n"+strings.Repeat(right, 4)+"\"run ranks: there is no function to run\"\n"+
		`"rank 1: part 1: why\nnot\nrank 2: part 2: why\nnot"`+"\ntrue\n"+
		`"rank 0: run ranks: the caller is rank 0 of another job; call Run from a goroutine that is no rank"`+"\n",
		run(t, nil, program, "errors").succeeded(t).stdout)
	assert.Equal(t, right, run(t, nil, program, "options").succeeded(t).stdout)
	assert.Equal(t, strings.Repeat(right, 9), run(t, nil, program, "at once").succeeded(t).stdout)
}

// Threads that the Go runtime of a program makes while a rank runs never act for that.
func TestGoThreadsAreNoRanks(t *testing.T) {
	testsupport.NothingLeft(t)
	program := mpiGoProgram(t, "./tests/e2e/testdata/goranks")
	for range 5 {
		assert.Equal(t, "0\n", run(t, nil, program, "threads").succeeded(t).stdout)
	}
}

// What a function must not do ends the process in one line.
func TestGoRanksEnd(t *testing.T) {
	testsupport.NothingLeft(t)
	program := mpiGoProgram(t, "./tests/e2e/testdata/goranks")
	for what, c := range map[string]struct {
		code int
		says []string
	}{
		"panic":  {2, []string{"tpsl: rank 1: the function panicked at ", "/goranks/main.go:", ": why; not\n"}},
		"nil":    {2, []string{"tpsl: rank 1: the function panicked at ", "/goranks/main.go:", ": runtime error: invalid memory address or nil pointer dereference\n"}},
		"Goexit": {2, []string{"tpsl: rank 1: the function ended its goroutine, as runtime.Goexit and testing's FailNow do: let it return\n"}},
		"abort":  {7, []string{"MPI_Abort(MPI_COMM_WORLD, 7) - process 1"}},
		"many":   {1, []string{"tpsl: 1000000 ranks need about "}},
	} {
		job := run(t, nil, program, what)
		assert.Equal(t, c.code, job.code, what)
		assert.Empty(t, job.stdout, what)
		assert.Equal(t, 1, strings.Count(job.stderr, "\n"), "%s:\n%s", what, job.stderr)
		for _, text := range c.says {
			assert.Contains(t, job.stderr, text)
		}
	}
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// sanitizer is a program of testdata compiled with one of the compiler's sanitizers.
type sanitizer struct {
	program string
	env     []string
}

// clean requires that a correct run is reported by nobody.
func (s sanitizer) clean(t *testing.T) {
	t.Run("nothing", func(t *testing.T) {
		testsupport.NothingLeft(t)
		job := mpiexec(t, s.env, "-n 2 -rpp 2", s.program).succeeded(t)
		assert.Equal(t, []string{"rank 0 heard from rank 1\n", "rank 1 heard from rank 0\n"}, job.lines())
	})
}

// finds requires one summary of the program's mistake and the sanitizer's exit code.
func (s sanitizer) finds(t *testing.T, mistake string, code int, summary string) (job outcome) {
	t.Run(mistake, func(t *testing.T) {
		testsupport.NothingLeft(t)
		job = mpiexec(t, s.env, "-n 2 -rpp 2", s.program, mistake)
		assert.Equal(t, code, job.code)
		all := regexp.MustCompile(`(?m)^SUMMARY: .*$`).FindAllString(job.stderr, -1)
		if assert.Len(t, all, 1, job.stderr) {
			assert.Regexp(t, summary, all[0])
		}
	})
	return job
}

// Programs under AddressSanitizer are what they are without: its malloc serves the
// instances too, and what only an instance points to is no leak.
func TestAddressSanitizer(t *testing.T) {
	flags := []string{"-fsanitize=address", "-g", "-O1"}
	s := sanitizer{program: fixture(t, "exchange", flags...)}
	s.clean(t)
	s.finds(t, "overflow", 1, `AddressSanitizer: heap-buffer-overflow \S*exchange\.c:\d+ in overflow$`)
	leaks := s.finds(t, "leak", 1, `AddressSanitizer: \d+ byte\(s\) leaked in \d+ allocation\(s\)\.$`).stderr
	assert.Equal(t, strings.Count(leaks, "leak of "), strings.Count(leaks, " in leak "), "leaks of others:\n%s", leaks)

	// Its pthread_create stands between libgomp and ours.
	t.Run("team", func(t *testing.T) {
		testsupport.NothingLeft(t)
		job := mpiexec(t, nil, "-n 4 -rpp 4", fixture(t, "team", flags...)).succeeded(t)
		assert.Equal(t, "team: 0 wrong\n", job.stdout)
	})
}

// ThreadSanitizer finds races of ranks on the program's data. The MPI library is not
// compiled for it; with UCX's hooks on memory calls it crashes in any MPI program.
func TestThreadSanitizer(t *testing.T) {
	s := sanitizer{
		program: testsupport.CC(t, "tpslcc", "testdata/exchange.c", "-fsanitize=thread", "-g", "-O1"),
		env:     []string{"TSAN_OPTIONS=ignore_noninstrumented_modules=1", "UCX_MEM_EVENTS=n"},
	}
	s.clean(t)
	s.finds(t, "race", 66, `ThreadSanitizer: data race \S*exchange\.c:\d+ in race$`)
}

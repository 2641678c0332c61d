// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

var checking = []string{"TPSL_CHECK=1"}

// Misuse that only a look at every call can see: one line says who and what to do.
func TestCheckReports(t *testing.T) {
	program := fixture(t, "check")
	for _, c := range []struct{ what, line string }{
		{"switch_in_operation", `TPSL_Switch: thread \d+ is inside MPI_Reduce_local of rank 0 \(slot 0\), in a callback of it; call TPSL_Switch when that has returned`},
		{"switch_in_error_handler", `TPSL_Switch: thread \d+ is inside MPI_Comm_call_errhandler of rank 0 \(slot 0\), in a callback of it; call .*`},
		{"switch_in_attribute_function", `TPSL_Switch: thread \d+ is inside MPI_(Comm|Attr)_delete(_attr)? of rank 0 \(slot 0\), in a callback of it; call .*`},
		{"adopt_in_operation", `TPSL_Adopt: thread \d+ is inside MPI_Reduce_local of rank 0 \(slot 0\), in a callback of it; call TPSL_Adopt when that has returned`},
		{"switch_to_occupied", `TPSL_Switch: thread \d+ is to act for rank 1 \(slot 1\) while thread \d+ is inside MPI_Reduce_local of it; wait until that has returned, or ask for MPI_THREAD_MULTIPLE`},
		{"switch_to_initialising", `TPSL_Switch: thread \d+ is to act for rank [01] \(slot [01]\) while thread \d+ is inside MPI_Init of it; wait .*`},
		{"helper_calls", `thread \d+ called MPI_Type_size of rank 0 \(slot 0\) while thread \d+ is inside MPI_Reduce_local of it; let one wait for the other, or ask for MPI_THREAD_MULTIPLE`},
		{"switched_thread_inside", `thread \d+ called MPI_Type_size of rank 1 \(slot 1\) while thread \d+ is inside MPI_Reduce_local of it; let .*`},
	} {
		t.Run(c.what, func(t *testing.T) {
			testsupport.NothingLeft(t)
			job := mpiexec(t, checking, "-n 2 -rpp 2", program, c.what)
			assert.Equal(t, 1, job.code)
			assert.Empty(t, job.stdout)
			assert.Regexp(t, `\Atpsl: `+c.line+`\n\z`, job.stderr)
			threads := regexp.MustCompile(`thread (\d+)`).FindAllStringSubmatch(job.stderr, -1)
			assert.Len(t, slices.CompactFunc(threads, func(a, b []string) bool { return a[1] == b[1] }), strings.Count(c.line, "thread \\d"), "threads apart")
		})
	}
}

// What is right is not reported: with MPI_THREAD_MULTIPLE, in turns, from any thread
// where the standard says so, from a callback.
func TestCheckIsSilent(t *testing.T) {
	program := fixture(t, "check")
	for _, what := range []string{
		"switch_to_occupied multiple", "helper_calls multiple", "switched_thread_inside multiple",
		"helper_asks", "call_in_operation", "by_turns", "by_turns multiple",
	} {
		t.Run(what, func(t *testing.T) {
			testsupport.NothingLeft(t)
			words := strings.Fields(what)
			job := mpiexec(t, checking, "-n 2 -rpp 2", append([]string{program}, words...)...).succeeded(t)
			assert.Equal(t, fmt.Sprintf("check: %s done\n", words[0]), job.stdout)
		})
	}
}

// Without TPSL_CHECK the same program runs as it did.
func TestCheckIsAsked(t *testing.T) {
	testsupport.NothingLeft(t)
	job := mpiexec(t, nil, "-n 2 -rpp 2", fixture(t, "check"), "helper_calls").succeeded(t)
	assert.Equal(t, "check: helper_calls done\n", job.stdout)
}

// Correct programs say the same under TPSL_CHECK=1 as without.
func TestCheckOfCorrectPrograms(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, c := range []struct {
		program, options string
		environ          []string
		lines            []string
	}{
		{example(t, "ring"), "-n 4 -rpp 2", nil, []string{"ring: 4 ranks, sum 6, expected 6\n"}},
		{fixture(t, "helper"), "-n 2 -rpp 2", nil, []string{"helper: 0 wrong\n"}},
		{fixture(t, "helper"), "-n 2", []string{"OMP_NUM_THREADS=1"}, []string{"helper: 0 wrong\n", "helper: 0 wrong\n"}},
		{fixture(t, "team"), "-n 4 -rpp 4", nil, []string{"team: 0 wrong\n"}},
		{fixture(t, "ranks"), "-n 4 -rpp 2", nil, []string{"ranks: 4 ranks right\n"}},
		{fixture(t, "multiple"), "-n 2", nil, []string{"multiple: 2 ranks, provided 1, 0 wrong\n"}},
	} {
		job := mpiexec(t, append(c.environ, checking...), c.options, c.program).succeeded(t)
		assert.Equal(t, c.lines, job.lines(), c.program)
	}
	assert.NotEmpty(t, checksum(t, mpiexec(t, checking, "-n 4 -rpp 4", example(t, "halo")), "1 process x 4 thread ranks"))
	listing := mpiexec(t, checking, "-n 3 -rpp 3", example(t, "listing1")).succeeded(t)
	assert.Len(t, listing.lines(), 3)
}

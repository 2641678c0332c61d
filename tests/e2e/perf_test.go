// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// perf knows the functions of every instance by name: their text is mapped from the file.
func TestPerf(t *testing.T) {
	testsupport.NothingLeft(t)
	testsupport.Require(t, "perf")
	data := filepath.Join(t.TempDir(), "perf.data")
	if try := run(t, nil, "perf", "record", "-q", "-e", "cpu-clock:u", "-o", data, "true"); try.code != 0 {
		testsupport.Unable(t, "perf may not count here (kernel.perf_event_paranoid, seccomp): %s", try.stderr)
	}
	job := run(t, nil, "perf", "record", "-q", "-e", "cpu-clock:u", "-F", "500", "-o", data,
		built(t, "bin/mpiexec"), "-n", "2", "-rpp", "2", fixture(t, "busy"))
	require.Zero(t, job.code, job.stderr)

	samples := run(t, nil, "perf", "script", "-i", data, "-F", "tid,ip,sym,dso").stdout
	threads, named, hex := map[string]bool{}, 0, 0
	for _, m := range regexp.MustCompile(`(?m)^ *(\d+) +[0-9a-f]+ (\S+) \(\S*/libmpich\.so\.12\S*\)$`).FindAllStringSubmatch(samples, -1) {
		switch m[2] {
		case "[unknown]":
			hex++
		case "PMPI_Type_size", "MPI_Type_size":
			named++
			threads[m[1]] = true
		}
	}
	assert.Len(t, threads, 2, "threads with samples in MPI_Type_size")
	report := run(t, nil, "perf", "report", "-i", data, "--stdio", "--sort", "pid,symbol").succeeded(t)
	rows := regexp.MustCompile(`(?m)^ +[0-9.]+% +(\d+):\S+ +\[\.\] P?MPI_Type_size\b`).FindAllStringSubmatch(report.stdout, -1)
	reported := map[string]bool{}
	for _, row := range rows {
		reported[row[1]] = true
	}
	assert.Equal(t, threads, reported, "threads with a row of their own in\n%s", report.stdout)
	assert.Greater(t, named, hex, "static functions have no names in a library without debug information, the rest has")
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// Ranks in the same frames share a stack, which has the program's own lines, in every mode.
func TestWhereStacks(t *testing.T) {
	testsupport.Require(t, "gdb")
	line := 1 + strings.Count(strings.Split(readText(t, "testdata/stuck.c"), "MPI_Recv(")[0], "\n")
	for _, mode := range []struct{ options, threads, compiler string }{
		{"-n 2", "1", "mpicc.mpich"}, {"-n 2 -rpp 2 -tpsl private", "1", "mpicc.mpich"}, {"-n 2 -rpp 2", "2", "tpslcc"},
	} {
		t.Run(mode.options, func(t *testing.T) {
			program := testsupport.CC(t, mode.compiler, "testdata/stuck.c", "-fopenmp", "-O2", "-g")
			job, _ := backgroundJob(t, mode.threads, "-state "+mode.options, program, "receive_cycle")
			var told outcome
			require.Eventually(t, func() bool { // on a busy machine gdb may take too long for a process
				told = where(t, "-stacks", strconv.Itoa(job.Process.Pid))
				return strings.Contains(told.stdout, "\ndeadlock: ") && strings.Contains(told.stdout, ": stack\n") && !strings.Contains(told.stdout, "no stack")
			}, limit, 100*time.Millisecond)
			lines, stacks, _ := strings.Cut(told.succeeded(t).stdout, ": stack\n")
			assert.Regexp(t, `\ndeadlock: .*\nrank`, lines)
			assert.Regexp(t, `^  #0 P?MPI_Recv \(\) from \S*/libmpich\.so\.12(\.\d+)*\n  #1 MPI_Recv \(\) from \S*/libtpslcalls\.so\n  #2 .* at stuck\.c:`+strconv.Itoa(line)+`\n`, stacks)
			assert.Regexp(t, `(?m)^  #\d+ (main|start_thread) `, stacks)
			assert.NotRegexp(t, `0x[0-9a-f]{6}`, stacks)
			deadlocked(t, strconv.Itoa(job.Process.Pid)) // the job goes on
		})
	}
}

// Where gdb may not attach a line says so for all ranks of the host, and the rest is told.
func TestWhereStacksRefused(t *testing.T) {
	name, err := os.Hostname()
	require.NoError(t, err)
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "gdb"), []byte("#!/bin/sh\necho 'ptrace: Operation not permitted.' >&2\nexit 1\n"), 0o700))
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	job, _ := stuckJob(t, "-state -n 2", "receive_cycle")
	require.Eventually(t, func() bool {
		told := where(t, "-stacks", strconv.Itoa(job.Process.Pid)).stdout
		return strings.Contains(told, "\ndeadlock: ") && strings.Contains(told, "\nranks 0-1 on "+name+": no stack: gdb may not attach: Operation not permitted (ptrace(2))\n")
	}, limit, 100*time.Millisecond)
}

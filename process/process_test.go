// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package process_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// program builds a program of testdata with files of the package.
func program(t *testing.T, name string, files ...string) string {
	t.Helper()
	return testsupport.CC(t, "gcc", "testdata/"+name+".c", append(files, "-D_GNU_SOURCE", "-I.")...)
}

func TestCPULists(t *testing.T) {
	stdout, stderr, code := testsupport.Run(t, time.Minute, nil, program(t, "cpus", "cpus.c"), "0-1,4", "7", "3,1", "2-", "x", "", "9999999999", "1022-1030")
	assert.Zero(t, code, stderr)
	assert.Equal(t, "0-1,4: 0 1 4\n7: 7\n3,1: 1 3\n2-: none\nx: none\n: none\n9999999999: none\n1022-1030: 1022 1023\n", stdout)
}

// A thread goes to the CPUs of its rank from where it started, and from where it was made by a rank's thread. Where the
// program has put it, it stays.
func TestPinnedThread(t *testing.T) {
	var allowed unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &allowed))
	var cpus []string
	for cpu := 0; len(cpus) < min(2, allowed.Count()); cpu++ {
		if allowed.IsSet(cpu) {
			cpus = append(cpus, fmt.Sprint(cpu))
		}
	}
	if len(cpus) < 2 {
		testsupport.Unable(t, "two CPUs are needed")
	}
	stdout, stderr, code := testsupport.Run(t, time.Minute, nil, append([]string{program(t, "pin", "cpus.c")}, cpus...)...)
	assert.Zero(t, code, stderr)
	assert.Equal(t, fmt.Sprintf("from the start: %[1]s\nfrom the program's choice: %[2]s\nfrom where another rank was pinned: %[1]s\nwithout CPUs of its own: %[1]s\n",
		cpus[0], cpus[1]), stdout)
}

// The launcher gets these lines, by its own descriptor only.
func TestLinesToTheLauncher(t *testing.T) {
	stdout, stderr, code := testsupport.Run(t, time.Minute, nil, program(t, "control", "control.c", "wire.c"))
	assert.Zero(t, code, stderr)
	assert.Equal(t, "start rank=3 pid=41\nfault rank=3 signal=11\nleave rank=3\nexit rank=3 pid=41 status=139\ntold 1, to another file 0\nwithout a launcher 0\n", stdout)
}

// An error ends the process with a line, and its job where the launcher is to abort it. Another process that shares the
// memory is not kept from ending by an error, too.
func TestEndByAnError(t *testing.T) {
	file := program(t, "die", "die.c", "job.c", "wire.c")
	const pmi = "it ended with 3; PMI heard \"%s\"\n"
	for how, want := range map[string]string{
		"": fmt.Sprintf(pmi, ""), "aborts": fmt.Sprintf(pmi, "cmd=abort exitcode=3\n"), "rank": fmt.Sprintf(pmi, "cmd=abort exitcode=3\n"),
		"other": "rank 0 asks for the end of the job with 3\n" + fmt.Sprintf(pmi, ""),
	} {
		stdout, stderr, code := testsupport.Run(t, time.Minute, nil, file, how)
		assert.Equal(t, 4, code)
		assert.Equal(t, "tpsl: rank 0: the first error\ntpsl: the second error\n", stderr)
		assert.Equal(t, want, stdout, how)
	}
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

var twoRanks = []string{"rank 0 of 2\n", "rank 1 of 2\n"}

// script makes a shell script.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	return path
}

// With -tpsl shared the program that calls MPI may come behind another one: a script starts it, or an interpreter opens
// the MPI library. The user's own LD_LIBRARY_PATH stays in force.
func TestSharedBehindAnother(t *testing.T) {
	opener := testsupport.CC(t, "gcc", "testdata/opener.c", "-fopenmp")
	linked := testsupport.CC(t, "mpicc.mpich", "testdata/linked.c", "-fopenmp")
	for _, c := range []struct {
		name string
		argv []string
		env  []string
	}{
		{"script", []string{script(t, linked)}, nil},
		{"shell", []string{"sh", "-c", linked + "; true"}, nil},
		{"library opened", []string{opener, "libmpich.so.12"}, nil},
		{"library opened, the user's path", []string{opener, "libmpich.so.12"}, []string{"LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			testsupport.NothingLeft(t)
			job := mpiexec(t, c.env, "-n 2 -rpp 2 -tpsl shared", c.argv...).succeeded(t)
			assert.Equal(t, twoRanks, job.lines())
		})
	}
	job := mpiexec(t, []string{"LD_LIBRARY_PATH=/user's"}, "-tpsl shared", "sh", "-c", "echo $LD_LIBRARY_PATH").succeeded(t)
	assert.Equal(t, built(t, "lib/tpsl")+":/user's\n", job.stdout)
}

// What a program starts is not loaded with libtpsl: it has the user's LD_PRELOAD, and lives with a limit of address space
// that libtpsl refuses.
func TestPreloadIsForTheProgramAlone(t *testing.T) {
	testsupport.NothingLeft(t)
	program := testsupport.CC(t, "mpicc.mpich", "testdata/starter.c")
	tool := testsupport.CC(t, "mpicc.mpich", "testdata/tool.c", "-shared", "-fPIC")
	other := library(t, "front")
	for preload, want := range map[string]string{"": "", tool: tool, tool + " " + other: tool + " " + other, other + ":" + tool: other + ":" + tool} {
		argv := []string{program}
		if preload != "" {
			argv = []string{"-genv", "LD_PRELOAD", preload, program}
			want = "LD_PRELOAD=" + want + "\n"
		}
		job := mpiexec(t, nil, "-n 1 -tpsl shared", argv...).succeeded(t)
		assert.Equal(t, want, job.stdout)
	}
}

// ld.so cuts its lists at spaces and colons.
func TestStandInsCannotBeNamed(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, name := range []string{"a place", "a:place", "a;place"} {
		prefix := filepath.Join(t.TempDir(), name)
		run(t, nil, "mkdir", "-p", prefix+"/bin", prefix+"/lib").succeeded(t)
		run(t, nil, "cp", built(t, "bin/mpiexec"), prefix+"/bin").succeeded(t)
		run(t, nil, "cp", "-r", built(t, "lib/tpsl"), prefix+"/lib").succeeded(t)
		job := run(t, nil, prefix+"/bin/mpiexec", "-n", "2", "-rpp", "2", "-tpsl", "shared", "true")
		assert.Equal(t, 255, job.code)
		oneLine(t, job, "mpiexec", "-tpsl shared cannot name", prefix+"/lib/tpsl", "install tpsl elsewhere")
		assert.Empty(t, run(t, nil, prefix+"/bin/mpiexec", "-n", "2", "true").succeeded(t).stdout)
	}
}

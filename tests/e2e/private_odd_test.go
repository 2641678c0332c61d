// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// What few programs do gives private ranks what it gives flat ones.
func TestPrivateOdd(t *testing.T) {
	testsupport.NothingLeft(t)
	program := testsupport.CC(t, "gcc", "testdata/odd.c", "-D_GNU_SOURCE", "-O2", "-pthread", "-lm")
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "oddtool"), []byte("#!/bin/sh\nexit 5\n"), 0o700))
	long := strings.Repeat("long ", 20000)
	job := func(options ...string) outcome {
		argv := append([]string{"bash", "-c", `ulimit -S -n 500; exec "$@"`, "bash", built(t, "bin/mpiexec"), "-n", "2"}, options...)
		return run(t, []string{"ODD=" + long}, append(argv, program, folder, long)...).succeeded(t)
	}
	assert.Equal(t, job().lines(), job("-rpp", "2", "-tpsl", "private").lines())
}

// Libraries of a rank are loaded by the host, which a child that the rank forks has not: it
// hears that instead of waiting for ever.
func TestPrivateChildOpens(t *testing.T) {
	testsupport.NothingLeft(t)
	job := mpiexec(t, nil, "-n 2 -rpp 2 -tpsl private", testsupport.CC(t, "gcc", "testdata/childopen.c")).succeeded(t)
	const refused = "child: a child that a rank of private mode makes by fork cannot load libraries; load them before, or execute a program in the child\n"
	assert.Equal(t, []string{refused, refused, "parent: 0, opened\n", "parent: 0, opened\n"}, job.lines())
}

// A signal that comes while ranks are being started is theirs, too.
func TestPrivateEarlySignal(t *testing.T) {
	testsupport.NothingLeft(t)
	testsupport.Require(t, "pgrep")
	const script = `"$0" -n 8 -rpp 8 -tpsl private /bin/bash -c "sleep 30; : $$" & until host=$(pgrep -o -f "lib/tpsl/host .*; : $$"); do :; done; sleep $DELAY; kill -TERM $host; wait $!`
	for _, delay := range []string{"0", "0.02", "0.03", "0.04", "0.06"} {
		job := run(t, []string{"DELAY=" + delay}, "sh", "-c", script, built(t, "bin/mpiexec"))
		assert.Equal(t, 15, job.code, delay)
	}
}

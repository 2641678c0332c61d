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

// mpiexecWith returns an mpiexec of its own installation, whose helper for PMIx is this file.
func mpiexecWith(t *testing.T, helper string) string {
	t.Helper()
	prefix := t.TempDir()
	program, err := os.ReadFile(built(t, "bin/mpiexec"))
	require.NoError(t, err)
	for name, text := range map[string]string{"bin/mpiexec": string(program), "lib/tpsl/pmix": helper} {
		file := filepath.Join(prefix, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o755))
	}
	return filepath.Join(prefix, "bin/mpiexec")
}

// A helper that cannot serve is told with its reason, before anything starts or later, and leaves neither a process nor a file.
func TestPMIxBadHelper(t *testing.T) {
	hosts, step := pmixHosts(t)
	for name, c := range map[string]struct{ host, helper, stderr string }{
		"no program": {"a", "no program", `start /.*/lib/tpsl/pmix: exec format error`},
		"hangs":      {"b", "#!/bin/sh\necho error no luck\nexec sleep 3600\n", "no luck"},
		"late":       {"b", "#!/bin/sh\necho ready\nsleep 0.2\necho error no luck\n", "no luck"},
	} {
		mpiexec := mpiexecWith(t, c.helper)
		step(name, func(t *testing.T) {
			o := run(t, nil, hosts[0].Inside(mpiexec, "-pmi", "x", "-hosts", c.host, "-n", "1", "sleep", "3600")...)
			assert.Equal(t, 255, o.code)
			assert.Regexp(t, "^mpiexec: serve PMIx on "+c.host+": "+c.stderr+"\n$", o.stderr)
			quiet(t, hosts)
		})
	}
}

// What keeps the helper from starting is told with what to do.
func TestPMIxHelperDoesNotStart(t *testing.T) {
	testsupport.NothingLeft(t)
	needsPMIxHelper(t)
	for stderr, words := range map[string][]string{
		`mkdir /nowhere/tpsl_\S+: no such file or directory; set TMPDIR to a folder in which you may write`:                            {"env", "TMPDIR=/nowhere"},
		`its helper lib/tpsl/pmix ended; stacks are limited to 100 KiB, which may be too little for it: raise the limit \(ulimit -s\)`: {"prlimit", "--stack=102400"},
	} {
		o := run(t, nil, append(words, built(t, "bin/mpiexec"), "-pmi", "x", "-n", "1", "true")...)
		assert.Equal(t, 255, o.code)
		assert.Regexp(t, `^mpiexec: serve PMIx on \S+: `+stderr+"\n$", o.stderr)
	}
}

// A rank's connection takes a descriptor of the helper, whose soft limit is the user's.
func TestPMIxDescriptorLimit(t *testing.T) {
	testsupport.NothingLeft(t)
	needsPMIxHelper(t)
	o := run(t, nil, "prlimit", "--nofile=40:4096", built(t, "bin/mpiexec"), "-pmi", "x", "-n", "50", pmixClient(t)).succeeded(t)
	assert.Len(t, o.lines(), 50)
}

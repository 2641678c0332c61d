// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// hostWords are what a host of private ranks that is a script has to begin with: each of its ranks has begun a PMI session, and "told"
// tells of the end of one.
const hostWords = `#!/bin/bash
ask() { echo "$1" >&$fd; read -r reply <&$fd; }
for fd in ${PMI_FD//,/ }; do ask "cmd=init pmi_version=1 pmi_subversion=1"; done
told() { echo "exit rank=$1 pid=$BASHPID status=$2" >&$TPSL_CONTROL_FD; }
`

// withHost installs an mpiexec whose host of private ranks is a script.
func withHost(t *testing.T, script string) (mpiexec string) {
	t.Helper()
	dir := t.TempDir()
	mpiexec, host := filepath.Join(dir, "bin", "mpiexec"), filepath.Join(dir, "lib", "tpsl", "host")
	require.NoError(t, os.MkdirAll(filepath.Dir(mpiexec), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Dir(host), 0o755))
	installed, err := exec.LookPath("mpiexec")
	require.NoError(t, err)
	installed, err = filepath.EvalSymlinks(installed)
	require.NoError(t, err)
	image, err := os.ReadFile(installed)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(mpiexec, image, 0o755))
	require.NoError(t, os.WriteFile(host, []byte(hostWords+script), 0o755))
	return mpiexec
}

// A rank of a set that dies of a signal ends its set: what becomes of the others, and of their process, counts nothing and is not told
// as a failure. With -disable-auto-cleanup the rank of another set goes on, and PMI tells it who is dead.
func TestRankEndsItsSet(t *testing.T) {
	testsupport.NothingLeft(t)
	program := probe(t)
	const other = `trap '' USR1
if [ $PMI_RANK = 3 ]; then
	>$0.ready
	fd=$PMI_FD
	ask cmd=get_my_kvsname
	kvs=${reply##*kvsname=}
	until ask "cmd=get kvsname=$kvs key=PMI_dead_processes" && [[ $reply = *value=0,1,2 ]]; do sleep 0.05; done
	ask cmd=finalize
	exit 0
fi
until [ -e $0.ready ]; do sleep 0.01; done
`
	for name, end := range map[string]string{
		"the host tells all":              "told 1 11; told 0 9; told 2 9; exit 0",
		"the host ends badly":             "told 1 11; told 0 9; exit 3",
		"the host is killed":              "told 1 11; kill -9 $$",
		"the host neither kills nor ends": "trap '' INT TERM HUP; told 1 11; while :; do sleep 1; done",
	} {
		t.Run(name, func(t *testing.T) {
			mpiexec := withHost(t, other+end)
			j := launch(t, nil, mpiexec, "-disable-auto-cleanup", "-print-all-exitcodes", "-n", "4", "-rpp", "3", program)
			assert.Equal(t, 11, j.end(t))
			said := j.errOut.String()
			assert.Contains(t, said, "mpiexec: rank 1 (")
			assert.Contains(t, said, " was killed by SIGSEGV (11, Segmentation fault), no core\n")
			assert.NotContains(t, said, "also failed")
			assert.Equal(t, 1, strings.Count(said, " killed by "))
			assert.Regexp(t, `mpiexec: ranks 0,2 on \S+: ended with rank 1\n`, said)
			assert.Regexp(t, `mpiexec: rank 1 on \S+: signal SIGSEGV \(11\), no core\n`, said)
			assert.Regexp(t, `mpiexec: rank 3 on \S+: exit code 0\n`, said)
			for line := range strings.Lines(said) {
				assert.NotRegexp(t, `^mpiexec: .*(without MPI_Finalize|one process)`, line)
			}
		})
	}
	t.Run("another rank dies of a signal of its own", func(t *testing.T) {
		mpiexec := withHost(t, other+"told 1 11; told 0 6; told 2 9; exit 0")
		j := launch(t, nil, mpiexec, "-disable-auto-cleanup", "-print-all-exitcodes", "-n", "4", "-rpp", "3", program)
		assert.Equal(t, 11|6, j.end(t))
		assert.Regexp(t, `mpiexec: also failed: rank 0 on \S+: \S+: SIGABRT \(6\), no core\n`, j.errOut.String())
		assert.Regexp(t, `mpiexec: rank 2 on \S+: ended with rank 1\n`, j.errOut.String())
	})
	t.Run("the job ends with the set", func(t *testing.T) {
		mpiexec := withHost(t, strings.Replace(other, "exit 0", "exec sleep 60", 1)+"told 1 11; told 0 9; told 2 9; exit 0")
		j := launch(t, nil, mpiexec, "-n", "4", "-rpp", "3", program)
		assert.Equal(t, 11, j.end(t))
		assert.Contains(t, j.errOut.String(), "mpiexec: rank 1 (")
		assert.NotContains(t, j.errOut.String(), "also failed")
	})
}

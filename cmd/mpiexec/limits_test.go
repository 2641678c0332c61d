// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Where there are too few to start a proxy, one line says so. Whether they suffice for the pipes to it depends on how many Go has open
// for limits of a control group, and on whether the socket of tpsl where is open yet.
func TestFewDescriptors(t *testing.T) {
	for _, limit := range []string{"8", "10"} {
		j := launch(t, nil, "prlimit", "--nofile="+limit+":"+limit, "mpiexec", "-n", "1", "true")
		assert.Equal(t, 255, j.end(t), limit)
		assert.Regexp(t, `^mpiexec: start proxy on \S+: (make pipe: )?too many open files; raise the limit of descriptors \(ulimit -n\)\n$`, j.errOut.String(), limit)
	}
}

// A low soft limit of descriptors is raised for the proxy and stays as it is for ranks. Where the hard one does not suffice nothing
// starts, and what the line says is enough is enough.
func TestDescriptorLimits(t *testing.T) {
	limited := func(limit string, options ...string) (*job, int) {
		command := slices.Concat([]string{"prlimit", "--nofile=" + limit, "mpiexec", "-n", "40"}, options, []string{"sh", "-c", "ulimit -Sn; sleep 0.3"})
		j := launch(t, nil, command...)
		return j, j.end(t)
	}
	j, code := limited("40:4096")
	require.Zero(t, code, j.errOut.String())
	for _, line := range lines(j.out.String()) {
		assert.Equal(t, "40", line)
	}
	need := func(options ...string) int {
		j, code := limited("100:100", options...)
		assert.Equal(t, 255, code)
		assert.Empty(t, j.out.String())
		said := regexp.MustCompile(`^mpiexec: 40 ranks on \S+ need (\d+) descriptors in mpiexec's proxy, but its limit is 100; ` +
			`raise it there \(ulimit -Hn\), or use more hosts\n$`).FindStringSubmatch(j.errOut.String())
		require.NotNil(t, said, j.errOut.String())
		n, err := strconv.Atoi(said[1])
		require.NoError(t, err)
		return n
	}
	plain := need()
	j, code = limited(strconv.Itoa(plain))
	assert.Zero(t, code, j.errOut.String())
	j, code = limited(strconv.Itoa(plain - 1))
	assert.Equal(t, 255, code, j.errOut.String())

	assert.Equal(t, plain+1, need("-pmi-port"), "a connection each, and the listener")
	files := filepath.Join(t.TempDir(), "%r")
	assert.Equal(t, plain+40, need("-outfile-pattern", files), "a file each")
	j, code = limited(strconv.Itoa(plain+40), "-outfile-pattern", files)
	assert.Zero(t, code, j.errOut.String())
}

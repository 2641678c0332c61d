// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package turns

import (
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLabel(t *testing.T) {
	s := Side{Env: []string{"A=1"}, Argv: []string{"bin/mpiexec", "-n", "2", "build/bench/latency-mpicc.mpich", "flat", "20"}}
	assert.Equal(t, "latency flat 20 (A=1 -n 2)", s.Label())
	assert.Equal(t, []string{"A=1"}, s.Env)
	assert.Equal(t, "pmi 3", Side{Argv: []string{"build/bench/pmi-gcc", "3"}}.Label())
	assert.Equal(t, "latency tpsl (build/bench/two-hosts -n 2)",
		Side{Argv: []string{"env", "build/bench/two-hosts", "-n", "2", "build/bench/latency-tpslcc", "tpsl"}}.Label(), "not its launcher")
	assert.Equal(t, "N", Side{Name: "N", Argv: s.Argv}.Label())
	assert.Equal(t, "J", Side{Job: "J", Argv: s.Argv}.Label())
	assert.Equal(t, "true", Side{Argv: []string{"true"}}.Label())

	all := []Contest{{Limit: time.Second, Sides: []Side{s, {Job: "J"}}}, {Limit: time.Second, Sides: []Side{{Job: "K"}}}}
	assert.Equal(t, []Contest{{Limit: time.Second, Sides: []Side{{Job: "J"}}}}, Only(all, regexp.MustCompile("J|x")))
}

func TestLibraryCheck(t *testing.T) {
	rest, seen := TakeLibrary("library: /a/libmpich.so.12  /a/libucp.so.0\nBenchmarkA 1 2 us\n")
	assert.Equal(t, "BenchmarkA 1 2 us\n", rest)
	assert.Equal(t, []string{"/a/libmpich.so.12 /a/libucp.so.0"}, seen)

	one, other := []string{"/a/libmpich.so"}, []string{"/b/libmpich.so"}
	var c LibraryCheck
	first, err := c.See(0, "flat", one)
	require.NoError(t, err)
	assert.True(t, first)
	first, err = c.See(0, "tpsl", one)
	require.NoError(t, err)
	assert.False(t, first)
	_, err = c.See(1, "no MPI", nil)
	require.NoError(t, err)

	_, err = c.See(2, "tpsl", other)
	require.EqualError(t, err, "refuse to compare different libraries: flat ran /a/libmpich.so, tpsl ran /b/libmpich.so")
	_, err = c.See(0, "tpsl", nil)
	require.ErrorContains(t, err, "flat says which MPI library it ran, tpsl does not")
	_, err = c.See(1, "tpsl", one)
	require.ErrorContains(t, err, "another side of its contest does not")
	_, err = c.See(3, "tpsl", []string{""})
	require.ErrorContains(t, err, "neither libmpich nor libmpi")
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/examples/engine/internal/crew/crewtest"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// The geometric tree is the published one; the binomial one is below.
func TestPublished(t *testing.T) {
	p := trees["T1"]
	assert.Equal(t, p.published, p.serial())
}

func TestSmallTrees(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, tree := range []string{"T1-small", "T3-small"} {
		crewtest.Each(t, func(t *testing.T, options []string) {
			options = append(options, "-tree", tree)
			var out strings.Builder
			require.NoError(t, run(options, &out))
			assert.Contains(t, out.String(), ": as serial; stolen ")
			assert.Contains(t, out.String(), "BenchmarkUTS/tree="+tree+"/threads=")
		})
	}
}

// Servers share the ports of those who count.
func TestServers(t *testing.T) {
	testsupport.NothingLeft(t)
	crewtest.EachShared(t, func(t *testing.T, options []string) {
		var out strings.Builder
		require.NoError(t, run(append(options, "-tree", "T1-small", "-servers"), &out))
		assert.Contains(t, out.String(), ": as serial; stolen ")
	})
}

// A published tree, by four threads that steal from one another.
func TestLargeTree(t *testing.T) {
	p := trees["T3"]
	o := options{chunk: 20, interval: 64}
	o.Ranks, o.Mates, o.Model, o.Matcher, o.As = 4, 1, "private", "table", "goroutines"
	_, got, err := search(o, &p)
	require.NoError(t, err)
	assert.Equal(t, p.published, got.totals)
	assert.Greater(t, got.thefts, int64(3), "each other one began with stolen nodes")
}

func TestRefused(t *testing.T) {
	for want, args := range map[string][]string{
		"-tree x: there are T1":          {"-tree", "x"},
		"need at least one node":         {"-chunk", "0"},
		"share needs another":            {"-servers"},
		"-threads 0: needs at least one": {"-threads", "0"},
	} {
		require.ErrorContains(t, run(args, new(strings.Builder)), want)
	}
	p := trees["T1-small"]
	_, err := p.check(totals{1, 1, 1})
	require.ErrorContains(t, err, "1 nodes, 1 leaves, depth 1; serial are 63914, 51124 and 7")
}

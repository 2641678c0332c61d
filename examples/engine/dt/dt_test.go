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

// The serial evaluation gives the published sums, so the graphs and the data are the benchmark's.
func TestPublished(t *testing.T) {
	for _, name := range []string{"BH", "WH", "SH"} {
		for _, letter := range []string{"S", "W"} {
			c := classes[letter]
			g, err := newGraph(name, c.width)
			require.NoError(t, err)
			assert.InDelta(t, published[name+"."+letter], c.serial(g), 0, name+"."+letter)
		}
	}
}

func TestGraphs(t *testing.T) {
	for name, nodes := range map[string]int{"BH": 4 + 1, "WH": 1 + 4, "SH": 3 * 4} {
		g, err := newGraph(name, 4)
		require.NoError(t, err)
		assert.Len(t, g, nodes)
		for i, n := range g {
			for _, a := range n.out {
				assert.Greater(t, a.peer, i, "sorted")
			}
		}
	}
	g, err := newGraph("BH", 16)
	require.NoError(t, err)
	assert.Len(t, g, 16+4+1)
}

func TestAll(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, graph := range []string{"BH", "WH", "SH"} {
		crewtest.Each(t, func(t *testing.T, options []string) {
			var out strings.Builder
			require.NoError(t, run(append(options, "-graph", graph, "-rounds", "2"), &out))
			assert.Contains(t, out.String(), "as published and as serial")
			assert.Contains(t, out.String(), "BenchmarkDT/graph="+graph+"/class=S/threads=")
		})
	}
}

func TestRefused(t *testing.T) {
	for _, args := range [][]string{{"-class", "Z"}, {"-graph", "XX"}, {"-model", "x"}} {
		require.ErrorContains(t, run(args, new(strings.Builder)), "there are")
	}
	c := classes["S"]
	g, err := newGraph("BH", c.width)
	require.NoError(t, err)
	require.ErrorContains(t, c.check(g, "BH.S", 1), "the sum is 1, published is 30892725")
}

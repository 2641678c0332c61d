// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/examples/engine/internal/crew/crewtest"
	"github.com/tpsl/tpsl/internal/testsupport"
)

func search1(t *testing.T, options ...string) {
	var out strings.Builder
	require.NoError(t, run(options, &out))
	assert.Contains(t, out.String(), ": valid, and as serial")
	assert.Contains(t, out.String(), "BenchmarkBFS/form=")
}

func TestReference(t *testing.T) {
	testsupport.NothingLeft(t)
	crewtest.Each(t, func(t *testing.T, options []string) {
		search1(t, append(options, "-scale", "10", "-roots", "4")...)
	})
	search1(t, "-scale", "14", "-roots", "2")
}

func TestShared(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, form := range []string{receivers, hybrid} {
		t.Run(form, func(t *testing.T) {
			crewtest.EachShared(t, func(t *testing.T, options []string) {
				search1(t, append(options, "-form", form, "-scale", "10", "-roots", "2")...)
			})
		})
	}
}

// The generator makes what the benchmark's does: vertices of very unlike degrees.
func TestKronecker(t *testing.T) {
	edges := kronecker(12, 1)
	require.Len(t, edges, 16<<12)
	p := partOf(edges, 1<<12, 0, 1)
	var degrees []int
	total := 0
	for v := range p.vertices() {
		degrees = append(degrees, len(p.of(v)))
		total += len(p.of(v))
	}
	loops := 0
	for _, e := range edges {
		if e.u == e.v {
			loops++
		}
	}
	assert.Equal(t, 2*(len(edges)-loops), total)
	slices.Sort(degrees)
	assert.Greater(t, degrees[len(degrees)-1], 100*edgeFactor/4, "the most")
	assert.Less(t, degrees[len(degrees)/2], edgeFactor, "the median is below the mean")
	split := 0
	for rank := range 3 {
		split += len(partOf(edges, 1<<12, rank, 3).neighbours)
	}
	assert.Equal(t, total, split)
}

// Each rule finds the tree that breaks it. The graph is a path 0-1-2-3-4 with 5-6 beside it.
func TestValidate(t *testing.T) {
	edges := []edge{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {5, 6}, {2, 2}}
	want := serial(partOf(edges, 7, 0, 1), 0)
	assert.Equal(t, []int64{0, 1, 2, 3, 4, none, none}, want)
	traversed, err := validate(edges, 0, []int64{0, 0, 1, 2, 3, none, none}, want)
	require.NoError(t, err)
	assert.Equal(t, 5, traversed)
	for wrong, parents := range map[string][]int64{
		"the root 0 has the parent 1":             {1, 0, 1, 2, 3, none, none},
		"go round in a circle":                    {0, 0, 3, 2, 3, none, none},
		"which is no vertex":                      {0, 0, 1, 2, 9, none, none},
		"has a parent that is not in the tree":    {0, 0, 1, 2, 5, none, none},
		"the tree has one end only":               {0, 0, 1, 2, none, none, none},
		"joins the levels":                        {0, 0, 1, 2, 0, none, none},
		"the tree's edge 3-1 is not in the graph": {0, 0, 1, 1, 3, none, none},
	} {
		_, err := validate(edges, 0, parents, want)
		require.ErrorContains(t, err, wrong)
	}
	want[4] = 3
	_, err = validate(edges, 0, []int64{0, 0, 1, 2, 3, none, none}, want)
	require.ErrorContains(t, err, "vertex 4 is at level 4, found by one thread at 3")
}

func TestRefused(t *testing.T) {
	for want, args := range map[string][]string{
		"-form x: there are reference, receivers": {"-form", "x"},
		"the scale is 1 to 30":                    {"-scale", "0"},
		"share needs another":                     {"-form", "hybrid"},
	} {
		require.ErrorContains(t, run(args, new(strings.Builder)), want)
	}
}

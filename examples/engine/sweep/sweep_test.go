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

// solved runs a small problem whose parts are all unlike.
func solved(t *testing.T, options ...string) {
	var out strings.Builder
	require.NoError(t, run(append(options, "-nx", "10", "-ny", "7", "-nz", "5", "-angles", "3", "-groups", "5", "-chunk", "3"), &out))
	assert.Contains(t, out.String(), "that of one thread, bit for bit")
	assert.Contains(t, out.String(), "BenchmarkSweep/threads=")
}

func TestAll(t *testing.T) {
	testsupport.NothingLeft(t)
	crewtest.Each(t, func(t *testing.T, options []string) { solved(t, options...) })
	crewtest.EachShared(t, func(t *testing.T, options []string) { solved(t, append(options, "-mates", "3")...) })
	solved(t, "-threads", "6", "-chunk", "100")
	solved(t, "-threads", "8") // some ports have no cell along z
}

// What one thread finds is a flux: where all cells are alike it looks the same from all sides, and as much
// is absorbed and leaves as starts.
func TestSerial(t *testing.T) {
	p := problem{nx: 6, ny: 6, nz: 6, angles: 4, groups: 2, chunk: 6, iterations: 60}
	flux := p.serial()
	p.prepare()
	for x := range p.nx {
		for y := range p.ny {
			for z := range p.nz {
				assert.InDelta(t, flux[0][p.cell(x, y, z)], flux[0][p.cell(x, y, p.nz-1-z)], 1e-12, "above and below the middle")
				assert.Positive(t, flux[1][p.cell(x, y, z)])
			}
		}
	}
	assert.Greater(t, flux[0][p.cell(0, 0, 0)], flux[0][p.cell(5, 5, 0)], "near the source and far from it")

	one := problem{nx: 1, ny: 1, nz: 1, angles: 1, groups: 1, chunk: 1, iterations: 1}
	one.prepare()
	f := one.newFaces(block{span{0, 1}, span{0, 1}})
	one.sweep(block{span{0, 1}, span{0, 1}}, 0, 0, span{0, 1}, f)
	psi, d := one.flux[0][0]*octants, one.direction[0]
	leaves := (d[0]*f.x[0] + d[1]*f.y[0] + d[2]*f.z[0]) / 2 // a face's flux over the cell's width
	assert.InDelta(t, one.source(0, 0, 0, 0), leaves+total*psi, 1e-12)
}

func TestGrid(t *testing.T) {
	assert.Equal(t, grid{1, 1}, gridOf(1))
	assert.Equal(t, grid{2, 3}, gridOf(6))
	assert.Equal(t, grid{1, 7}, gridOf(7))
	assert.Equal(t, grid{4, 4}, gridOf(16))
	g := grid{2, 3}
	from, to := g.neighbours(1, 0)
	assert.Equal(t, [2]int{-1, 0}, from)
	assert.Equal(t, [2]int{4, 2}, to)
	from, to = g.neighbours(1, 6)
	assert.Equal(t, [2]int{4, 2}, from)
	assert.Equal(t, [2]int{-1, 0}, to)
}

func TestRefused(t *testing.T) {
	for want, args := range map[string][]string{
		"each is at least 1":  {"-angles", "0"},
		"share needs another": {"-mates", "2"},
	} {
		require.ErrorContains(t, run(args, new(strings.Builder)), want)
	}
	p := problem{nx: 2, ny: 2, nz: 2, angles: 1, groups: 1, chunk: 1, iterations: 1}
	p.prepare()
	require.ErrorContains(t, p.check(p.serial()), "group 0, cell 0: the flux is 0, of one thread")
}

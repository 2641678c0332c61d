// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/tests/bench/results"
)

// A cost is a row of docs/scale.md: figures of one kind by a number of processes or hosts, and what they grow with.
type cost struct {
	what, kind, key string
	powers          []float64 // of the number
	beyond          float64   // the number for which the page says what is to be expected
}

var costs = []cost{
	{"launcher, processes of one host", "Launch", "processes", []float64{0, 1}, 1024},
	{"launcher, hosts that one host plays", "Launch", "hosts", []float64{0, 1}, 1000},
	{"each asks the launcher for a value of each", "Exchange", "processes", []float64{0, 2}, 1024},
	{"start of the engine, processes of one host", "Start", "processes", []float64{0, 1, 2}, 1024},
	{"memory of a process, its own", "Private", "processes", []float64{0, 1}, 1024},
	{"memory of a process, shared", "Mapped", "processes", []float64{0, 1}, 1024},
	{"a process's part of a node over TCP, without connections", "Peers", "processes", []float64{0, 1}, 1e6},
}

// The rows of docs/scale.md are what the models make of the figures that are kept.
func TestScalePage(t *testing.T) {
	root := testsupport.Root(t)
	raws, err := filepath.Glob(filepath.Join(root, "docs/results/*-engine-scale/raw.txt"))
	require.NoError(t, err)
	require.Len(t, raws, 1)
	f, err := os.Open(raws[0])
	require.NoError(t, err)
	defer f.Close()
	found, err := results.Read(f)
	require.NoError(t, err)
	page, err := os.ReadFile(filepath.Join(root, "docs/scale.md"))
	require.NoError(t, err)
	for _, c := range costs {
		assert.Contains(t, string(page), c.row(t, found)+"\n")
	}
}

type point struct{ number, value float64 }

// row is the cost's row of the table. The prediction of the largest number is made of the others.
func (c cost) row(t *testing.T, found *results.Set) string {
	t.Helper()
	var all []point
	unit := ""
	for _, text := range found.Names() {
		name := results.ParseName(text)
		number, ok := name.Number(c.key)
		if !ok || name.Kind != c.kind {
			continue
		}
		s, ok := found.Of(text)
		require.True(t, ok)
		all, unit = append(all, point{number, s.Median}), found.Unit(text)
	}
	require.Greater(t, len(all), len(c.powers), c.kind)
	slices.SortFunc(all, func(a, b point) int { return cmp.Compare(a.number, b.number) })
	last := all[len(all)-1]
	var measured []string
	for _, p := range all {
		measured = append(measured, fmt.Sprintf("%.0f: %s", p.number, short(p.value)))
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %.0f: %s, measured %s | %.0f: %s |", c.what, unit, strings.Join(measured, ", "), c.formula(fit(all, c.powers)),
		last.number, short(c.at(fit(all[:len(all)-1], c.powers), last.number)), short(last.value), c.beyond, short(c.at(fit(all, c.powers), c.beyond)))
}

func short(v float64) string {
	if v >= 1000 || v <= -1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

func (c cost) formula(factors []float64) string {
	var terms []string
	for i, power := range c.powers {
		terms = append(terms, short(factors[i])+[]string{"", " N", " N²"}[int(power)])
	}
	return strings.Join(terms, " + ")
}

func (c cost) at(factors []float64, number float64) (sum float64) {
	for i, power := range c.powers {
		sum += factors[i] * math.Pow(number, power)
	}
	return sum
}

// fit finds the factors of powers with the least squares of relative errors: each point counts as much, be it small or large.
func fit(points []point, powers []float64) []float64 {
	n := len(powers)
	m := make([][]float64, n) // the normal equations
	for i := range m {
		m[i] = make([]float64, n+1)
		for _, p := range points {
			a := math.Pow(p.number, powers[i]) / p.value
			for k, power := range powers {
				m[i][k] += a * math.Pow(p.number, power) / p.value
			}
			m[i][n] += a
		}
	}
	for i := range m { // they are symmetric and positive: no exchange of rows
		for k := range m {
			if k == i {
				continue
			}
			part := m[k][i] / m[i][i]
			for j := range m[k] {
				m[k][j] -= part * m[i][j]
			}
		}
	}
	factors := make([]float64, n)
	for i := range factors {
		factors[i] = m[i][n] / m[i][i]
	}
	return factors
}

func TestFit(t *testing.T) {
	var points []point
	for _, n := range []float64{8, 16, 32, 64, 128} {
		points = append(points, point{n, 3 + 0.5*n + 0.01*n*n})
	}
	assert.InDeltaSlice(t, []float64{3, 0.5, 0.01}, fit(points, []float64{0, 1, 2}), 1e-6)
}

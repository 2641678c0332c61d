// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/results"
)

// Jobs of few processes print what the document is about.
func TestScale(t *testing.T) {
	testsupport.NothingLeft(t)
	mpiexec := filepath.Join(testsupport.Build(t), "bin", "mpiexec")
	self, err := os.Executable()
	require.NoError(t, err)
	var found results.Set
	for _, side := range []string{"Exchange/processes=3", "Start/processes=3"} {
		out, errOut, code := testsupport.Run(t, time.Minute, nil, mpiexec, "-n", "3", self, "-measure", side)
		require.Zero(t, code, errOut)
		require.NoError(t, found.Add(1, out))
	}
	out, errOut, code := testsupport.Run(t, time.Minute, nil, self, "-measure", "Peers/processes=100")
	require.Zero(t, code, errOut)
	require.NoError(t, found.Add(1, out))
	for _, name := range []string{"Exchange/processes=3", "Start/processes=3", "Private/processes=3", "Peers/processes=100", "Links/processes=100"} {
		assert.Positive(t, found.Values[name][1].Number, name)
	}
	_, errOut, code = testsupport.Run(t, time.Minute, nil, self, "-measure", "Exchange/processes=3")
	assert.Equal(t, report.NotDone, code)
	assert.Contains(t, errOut, "not started by mpiexec")
}

// A curve is a + b n + c n*n.
type curve [3]float64

func (c curve) at(n float64) float64 { return c[0] + c[1]*n + c[2]*n*n }

// fit returns the curve of so many terms whose errors, as parts of the values, have the smallest sum of squares.
func fit(ns, values []float64, terms int) (c curve) {
	var m [3][4]float64 // the normal equations
	for k, n := range ns {
		x := [3]float64{1, n, n * n}
		for i := range terms {
			for j := range terms {
				m[i][j] += x[i] * x[j] / (values[k] * values[k])
			}
			m[i][3] += x[i] / values[k]
		}
	}
	for i := range terms { // Gauss and Jordan
		best := i
		for j := i; j < terms; j++ {
			if math.Abs(m[j][i]) > math.Abs(m[best][i]) {
				best = j
			}
		}
		m[i], m[best] = m[best], m[i]
		for j := range terms {
			if factor := m[j][i] / m[i][i]; j != i {
				for k := range m[j] {
					m[j][k] -= factor * m[i][k]
				}
			}
		}
	}
	for i := range terms {
		c[i] = m[i][3] / m[i][i]
	}
	return c
}

func TestFit(t *testing.T) {
	ns := []float64{1, 2, 4, 8}
	want := curve{3, 0.5, 0.25}
	values := make([]float64, len(ns))
	for i, n := range ns {
		values[i] = want.at(n)
	}
	got := fit(ns, values, 3)
	for i := range want {
		assert.InDelta(t, want[i], got[i], 1e-9)
	}
	line := fit(ns, []float64{2, 3, 5, 9}, 2)
	assert.InDelta(t, 1, line[0], 1e-9)
	assert.InDelta(t, 1, line[1], 1e-9)
}

// A cost is a row of the document: what was measured by the number of processes, and its model.
type cost struct {
	what, kind, key, unit string
	terms                 int // of the curve
}

var costs = []cost{
	{"a job that does nothing, on one host", "Launch", "processes", "ms", 2},
	{"each process asks the launcher for a value of each other", "Exchange", "processes", "ms", 3},
	{"the engine starts, on one host", "Start", "processes", "ms", 3},
	{"memory of a process of the engine", "Private", "processes", "KB", 2},
	{"shared memory that it has mapped and touched", "Mapped", "processes", "KB", 2},
	{"a job that does nothing, one process a host", "Launch", "hosts", "ms", 2},
	{"each process asks for a value of each other, one process a host", "Exchange", "hosts", "ms", 3},
	{"a process joins a node over TCP", "Peers", "processes", "ms", 2},
}

// row says what a cost is at all sizes but the largest, what the model of these predicts there, and what was measured there.
func (c cost) row(found *results.Set) string {
	var ns, values []float64
	for _, name := range found.Names() {
		n := results.ParseName(name)
		number, ok := n.Number(c.key)
		if s, any := found.Of(name); n.Kind == c.kind && ok && any {
			ns, values = append(ns, number), append(values, s.Median)
		}
	}
	order := make([]int, len(ns))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(ns[a] - ns[b]) })
	x, y := make([]float64, len(ns)), make([]float64, len(ns))
	for i, from := range order {
		x[i], y[i] = ns[from], values[from]
	}
	last := len(x) - 1
	model := fit(x[:last], y[:last], c.terms)
	predicted := model.at(x[last])
	formula := fmt.Sprintf("%.3g + %.3g n", model[0], model[1])
	if c.terms > 2 {
		formula += fmt.Sprintf(" + %.3g n²", model[2])
	}
	return fmt.Sprintf("| %s | %.3g at %.0f to %.3g at %.0f %s | %s | %.3g at %.0f | %.3g | %.2f |\n",
		c.what, y[0], x[0], y[last-1], x[last-1], c.unit, strings.ReplaceAll(formula, "+ -", "- "), predicted, x[last], y[last], y[last]/predicted)
}

var scaleRaw = regexp.MustCompile(`results/[^)]*-engine-scale/raw\.txt`)

// The table of the document is what the raw file makes of it.
func TestScaleOfTheDocument(t *testing.T) {
	t.Chdir(testsupport.Root(t))
	text, err := os.ReadFile("docs/scale.md")
	require.NoError(t, err)
	f, err := os.Open(filepath.Join("docs", scaleRaw.FindString(string(text))))
	require.NoError(t, err)
	defer f.Close()
	found, err := results.Read(f)
	require.NoError(t, err)
	var table strings.Builder
	for _, c := range costs {
		table.WriteString(c.row(found))
	}
	assert.Contains(t, string(text), table.String())
}

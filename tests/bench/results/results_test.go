// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package results

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const raw = `# SPDX-License-Identifier: X
# date: 2026-11-05
cpu: Some CPU: fast @ 2.5 GHz
cpus: 2

# turn 1
BenchmarkA/mode=flat/size=8 100 0.5 us/msg
BenchmarkHandOver 5 60 ns
# note: it rained
# turn 3
BenchmarkA/mode=flat/size=8 100 0.4 us/msg
BenchmarkA/mode=tpsl/size=8 100 0.2 us/msg
`

func TestRead(t *testing.T) {
	s, err := Read(strings.NewReader(raw))
	require.NoError(t, err)
	assert.Equal(t, []Line{{"date", "2026-11-05"}, {"cpu", "Some CPU: fast @ 2.5 GHz"}, {"cpus", "2"}}, s.Header)
	assert.Equal(t, "2", s.Setting("cpus"))
	assert.Empty(t, s.Setting("x"))
	assert.Equal(t, []string{"it rained"}, s.Notes)
	assert.Equal(t, []string{"A/mode=flat/size=8", "A/mode=tpsl/size=8", "HandOver"}, s.Names())
	assert.Equal(t, map[int]Value{1: {0.5, "us/msg"}, 3: {0.4, "us/msg"}}, s.Values["A/mode=flat/size=8"])
	assert.Equal(t, "ns", s.Unit("HandOver"), "as it was printed")
	assert.Empty(t, s.Unit("B"))
}

func TestReadWithoutTurns(t *testing.T) {
	s, err := Read(strings.NewReader("BenchmarkA 1 5 us\nBenchmarkA 1 6 us\n"))
	require.NoError(t, err)
	assert.Equal(t, map[int]Value{1: {5, "us"}, 2: {6, "us"}}, s.Values["A"])
}

func TestReadRefuses(t *testing.T) {
	for want, text := range map[string]string{
		"A: two values in turn 1":  "# turn 1\nBenchmarkA 1 5 us\nBenchmarkA 1 5 us\n",
		"A: in us, then in ms":     "BenchmarkA 1 5 us\nBenchmarkA 1 5 ms\n",
		"not the number of a turn": "# turn x\n",
		"output:1":                 "BenchmarkA oops\n",
	} {
		_, err := Read(strings.NewReader(text))
		assert.ErrorContains(t, err, want)
	}
}

func TestSummaries(t *testing.T) {
	s := &Set{Values: map[string]map[int]Value{"A": {}, "B": {}}}
	for turn := range 10 {
		s.Values["A"][turn] = Value{float64(turn), "us"}
		s.Values["B"][turn] = Value{float64(2 * turn), "us"}
	}
	a, ok := s.Of("A")
	require.True(t, ok)
	assert.Equal(t, Summary{4.5, 1, 8, 10}, a)
	assert.Equal(t, "1-8", a.Interval())

	ratio, ok := s.Ratio("B", "A")
	require.True(t, ok)
	assert.Equal(t, Summary{2, 2, 2, 9}, ratio, "not the turn whose base is 0")

	s.Values["C"] = map[int]Value{11: {1, "us"}}
	_, ok = s.Ratio("C", "A")
	assert.False(t, ok, "no turn has both")
	few, _ := s.Of("C")
	assert.Equal(t, "too few runs", few.Interval())
}

func TestName(t *testing.T) {
	n := ParseName("Halo/mode=tpsl/grid=x/threads=12")
	assert.Equal(t, "Halo", n.Kind)
	assert.Equal(t, "tpsl", n.Get("mode"))
	assert.Empty(t, n.Get("size"))
	threads, ok := n.Number("threads")
	assert.True(t, ok)
	assert.InDelta(t, 12, threads, 0)
	_, ok = n.Number("grid")
	assert.False(t, ok)
	assert.Equal(t, "Halo/mode=flat/grid=x/threads=12", n.With("mode", "flat").String())
	assert.Equal(t, "Halo/mode=tpsl/grid=x/threads=12", n.String(), "as before")
	assert.Equal(t, "HandOver", ParseName("HandOver").String())
}

func TestNamesInOrder(t *testing.T) {
	names := []Name{ParseName("A/size=1024"), ParseName("A/size=8"), ParseName("A/size=x"), ParseName("A")}
	slices.SortFunc(names, Name.Compare)
	var texts []string
	for _, n := range names {
		texts = append(texts, n.String())
	}
	assert.Equal(t, []string{"A", "A/size=8", "A/size=1024", "A/size=x"}, texts)
}

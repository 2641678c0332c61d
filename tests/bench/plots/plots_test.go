// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plots

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/tests/bench/results"
)

func recorded(t *testing.T) *results.Set {
	t.Helper()
	f, err := os.Open("testdata/raw.txt")
	require.NoError(t, err)
	defer f.Close()
	set, err := results.Read(f)
	require.NoError(t, err)
	return set
}

// Two drawings of the same are the same bytes, and show what was measured.
func TestDraw(t *testing.T) {
	set := recorded(t)
	first, second := t.TempDir(), t.TempDir()
	drawn, err := Draw(first, set, "Some CPU")
	require.NoError(t, err)
	again, err := Draw(second, set, "Some CPU")
	require.NoError(t, err)
	assert.Equal(t, drawn, again)
	for folder := range map[string]bool{first: true, second: true} {
		there, err := Ratios(folder, set, "Some CPU")
		require.NoError(t, err)
		assert.True(t, there)
	}
	drawn = append(drawn, Figure{File: "ratios"})
	var files []string
	for _, f := range drawn {
		files = append(files, f.File)
		for _, ending := range []string{".svg", ".png"} {
			one, err := os.ReadFile(filepath.Join(first, f.File+ending))
			require.NoError(t, err)
			other, err := os.ReadFile(filepath.Join(second, f.File+ending))
			require.NoError(t, err)
			assert.True(t, bytes.Equal(one, other), "%s%s differs", f.File, ending)
		}
	}
	assert.Equal(t, []string{"latency", "latency-pairs", "rate", "rate-pairs", "bandwidth", "bandwidth-both-ways", "halo-xz", "halo-yz",
		"collectives", "overlap", "startup", "memory", "latency-modes-threads", "rate-modes-threads", "bandwidth-modes-threads", "ratios"}, files)

	svg, err := os.ReadFile(filepath.Join(first, "latency.svg"))
	require.NoError(t, err)
	for _, want := range []string{"SPDX-License-Identifier", "Liberation Sans,Arial", ">Latency of one pair of ranks<", ">Some CPU<",
		">ranks of one process<", ">flat MPI<", ">threaded MPI, tags<", ">tpsl<", ">a cache line handed over<", ">4K<", ">microseconds<"} {
		assert.Contains(t, string(svg), want)
	}
	picture, err := os.ReadFile(filepath.Join(first, "latency.png"))
	require.NoError(t, err)
	image, err := png.Decode(bytes.NewReader(picture))
	require.NoError(t, err)
	assert.Greater(t, image.Bounds().Dx(), image.Bounds().Dy())
	assert.LessOrEqual(t, image.Bounds().Dx(), 830, "as wide as the column of a README at most")
}

func TestDrawNothing(t *testing.T) {
	drawn, err := Draw(t.TempDir(), &results.Set{}, "")
	require.NoError(t, err)
	assert.Empty(t, drawn)
}

// chosen returns the panels of the figure of this file, of some benchmark lines.
func chosen(t *testing.T, file, lines string) []panel {
	t.Helper()
	set, err := results.Read(strings.NewReader(lines))
	require.NoError(t, err)
	for _, f := range figures {
		if f.file == file {
			panels, _ := f.choose(set)
			return panels
		}
	}
	t.Fatalf("no figure %s", file)
	return nil
}

// A curve of many ranks shows what each of them takes.
func TestEach(t *testing.T) {
	lines := ""
	for ranks := 1; ranks <= 32; ranks *= 2 {
		lines += fmt.Sprintf("BenchmarkStartup/by=mpiexec/mode=private/ranks=%d 1 %d ms/job\n", ranks, ranks*ranks*5)
	}
	panels := chosen(t, "startup-rank", lines)
	require.Len(t, panels, 1)
	assert.Equal(t, []point{{1, 5, 5, 5}, {2, 10, 10, 10}, {4, 20, 20, 20}, {8, 40, 40, 40}, {16, 80, 80, 80}, {32, 160, 160, 160}}, panels[0].lines[0].points)
	assert.Empty(t, chosen(t, "startup-rank", strings.Join(strings.SplitAfter(lines, "\n")[:5], "")), "five places are no curve")
}

// The baselines, whose ranks are in two processes, stand beside ranks of one, too.
func TestBaselinesAreLent(t *testing.T) {
	panels := chosen(t, "latency", `
BenchmarkLatency/mode=tpsl/between=threads/pairs=1/size=8 1 0.2 us/msg
BenchmarkLatency/mode=tpsl/between=threads/pairs=1/size=16 1 0.3 us/msg
BenchmarkLatency/mode=tpsl/between=threads/pairs=2/size=32 1 0.3 us/msg
BenchmarkLatency/mode=tpsl/between=processes/pairs=1/size=8 1 0.5 us/msg
BenchmarkLatency/mode=tpsl/between=processes/pairs=1/size=64 1 0.5 us/msg
BenchmarkLatency/mode=tpsl/between=hosts/pairs=1/size=8 1 9 us/msg
BenchmarkLatency/mode=flat/between=processes/pairs=1/size=8 1 0.4 us/msg
BenchmarkHandOver 1 60 ns
`)
	require.Len(t, panels, 2, "one size between hosts is no curve")
	assert.Equal(t, "ranks of one process", panels[0].title)
	assert.Equal(t, []line{
		{"mode=flat", "flat MPI", []point{{8, 0.4, 0.4, 0.4}}},
		{"mode=tpsl", "tpsl", []point{{8, 0.2, 0.2, 0.2}, {16, 0.3, 0.3, 0.3}}},
	}, panels[0].lines)
	assert.Equal(t, "ranks of two processes", panels[1].title)
	assert.Equal(t, "mode=flat mode=tpsl", panels[1].lines[0].key+" "+panels[1].lines[1].key)
	require.Len(t, panels[1].limits, 1)
	assert.InDeltaSlice(t, []float64{8, 64}, []float64{panels[1].limits[0].points[0].x, panels[1].limits[0].points[1].x}, 0)
	assert.InDelta(t, 0.06, panels[1].limits[0].points[0].y, 1e-9, "in the figure's unit")
}

func TestSpeedup(t *testing.T) {
	panels := chosen(t, "halo-xz", `
BenchmarkHalo/mode=tpsl/grid=z/plane=xz/threads=1 1 100 us/exchange
BenchmarkHalo/mode=tpsl/grid=z/plane=xz/threads=2 1 60 us/exchange
BenchmarkHalo/mode=tpsl/grid=z/plane=xz/threads=16 1 10 us/exchange
BenchmarkHalo/mode=tpsl/grid=z/plane=yz/threads=1 1 7 us/exchange
`)
	require.Len(t, panels, 1)
	require.Len(t, panels[0].lines, 1)
	l := panels[0].lines[0]
	assert.Equal(t, "large Z", l.label)
	require.Len(t, l.points, 3)
	assert.InDelta(t, 1, l.points[0].y, 0)
	assert.InDelta(t, 10, l.points[2].y, 1e-9)
	assert.Empty(t, chosen(t, "halo-xz", "BenchmarkHalo/mode=tpsl/grid=z/plane=xz/threads=1 1 100 us/exchange\n"), "one place is no curve")

	panels = chosen(t, "halo-xz", `
BenchmarkHalo/mode=tags/grid=z/plane=xz/threads=2 1 60 us/exchange
BenchmarkHalo/mode=tags/grid=z/plane=xz/threads=4 1 30 us/exchange
`)
	assert.Empty(t, panels[0].lines[0].points, "without one thread there is nothing to be faster than")
	assert.Empty(t, chosen(t, "rate-modes-threads", `
BenchmarkRate/mode=tpsl/between=threads/pairs=1/size=8 1 4 Mmsg/s
BenchmarkRate/mode=tpsl/between=threads/pairs=1/size=16 1 4 Mmsg/s
`), "one number of pairs compares nothing")
}

func TestSettings(t *testing.T) {
	panels := chosen(t, "startup", `
BenchmarkStartup/by=mpiexec/mode=tpsl/ranks=16 1 4 ms/job
BenchmarkStartup/by=mpiexec/mode=tpsl/ranks=64/setting=default 1 4 ms/job
BenchmarkStartup/by=mpiexec/mode=tpsl/ranks=64/setting=nolocal 1 4 ms/job
`)
	require.Len(t, panels, 2)
	assert.Equal(t, "by default", panels[0].title)
	require.Len(t, panels[0].lines, 1)
	assert.Len(t, panels[0].lines[0].points, 2, "no setting is the default")
	assert.Equal(t, "no shared memory", panels[1].title)
}

func TestPlaces(t *testing.T) {
	assert.InDelta(t, 3, place(8, 1), 0)
	assert.InDelta(t, 2, place(0, 8), 0, "a step below the smallest")
	assert.Equal(t, []string{"512", "1K", "1536", "4M", "1000"}, []string{short(512), short(1024), short(1536), short(4 << 20), short(1000)})
	ticks := xTicks([]float64{0, 1, 4, 1024, 1 << 20}, 1)
	var labels []string
	for _, tick := range ticks {
		labels = append(labels, tick.Label)
	}
	assert.Equal(t, []string{"0", "", "4", "1K", "1M"}, labels, "where there is room")
	var numbers []string
	for _, tick := range (logTicks{}).Ticks(0.04, 3) {
		numbers = append(numbers, tick.Label)
	}
	assert.Equal(t, []string{"0.05", "0.1", "0.2", "0.5", "1", "2"}, numbers)
}

// A colour means the same mode in every figure, and lines of one mode are told apart by glyph and dashes.
func TestStyles(t *testing.T) {
	used := map[string]style{}
	flat := styleOf("mode=flat/by=x", used)
	assert.Equal(t, ofMode["mode=flat"], flat)
	assert.Equal(t, ofMode["mode=tpsl"], styleOf("mode=tpsl", used))
	second := styleOf("mode=flat/by=y", used)
	assert.Equal(t, flat.color, second.color)
	assert.NotEqual(t, flat.glyph, second.glyph)
	assert.NotEqual(t, flat.dashes(), second.dashes())
	assert.Equal(t, flat, styleOf("mode=flat/by=x", used), "as before")

	assert.Equal(t, ofOthers[0], styleOf("matcher=table", used))
	assert.Equal(t, ofOthers[1], styleOf("matcher=queues", used))
	for _, other := range ofOthers {
		for mode, s := range ofMode {
			assert.NotEqual(t, s.color, other.color, mode)
		}
	}
}

// The engine's figures: its pair stands beside flat ranks, and the rest has figures of its own.
func TestEngine(t *testing.T) {
	set, err := results.Read(strings.NewReader(`
BenchmarkLatency/mode=flat/between=processes/pairs=1/size=8 1 0.4 us/msg
BenchmarkLatency/mode=flat/between=processes/pairs=1/size=64 1 0.4 us/msg
BenchmarkLatency/mode=engine/between=threads/pairs=1/size=8 1 0.2 us/msg
BenchmarkLatency/mode=engine/between=threads/pairs=1/size=64 1 0.2 us/msg
BenchmarkLatency/mode=engine/between=threads/pairs=1/model=global/size=8 1 0.3 us/msg
BenchmarkLatency/mode=engine/between=threads/pairs=1/model=global/size=64 1 0.3 us/msg
BenchmarkMatch/matcher=table/pending=10 1 50 ns/msg
BenchmarkMatch/matcher=table/pending=100 1 50 ns/msg
BenchmarkMatch/matcher=queues/pending=10 1 40 ns/msg
BenchmarkMatch/matcher=queues/pending=100 1 400 ns/msg
BenchmarkShare/op=isend/model=global/threads=1/size=64 1 4 Mmsg/s
BenchmarkShare/op=isend/model=global/threads=4/size=64 1 3 Mmsg/s
BenchmarkShare/op=isend/model=global/threads=4/size=4096 1 1 Mmsg/s
BenchmarkShare/op=isend/model=lockq/threads=4/size=64 1 3 Mmsg/s
BenchmarkThreads/by=switch/cores=1/shape=ring/threads=1000 1 60 ns/msg
BenchmarkThreads/by=switch/cores=1/shape=ring/threads=1000000 1 160 ns/msg
BenchmarkThreads/by=messages/cores=1/shape=ring/threads=1000 1 160 ns/msg
BenchmarkThreads/by=messages/cores=1/shape=ring/threads=1000000 1 360 ns/msg
BenchmarkUTS/tree=T3/threads=1/mates=1/model=private/matcher=table/as=goroutines 1 4 Mnodes/s
BenchmarkUTS/tree=T3/threads=2/mates=1/model=private/matcher=table/as=goroutines 1 7 Mnodes/s
BenchmarkUTS/tree=T3/threads=2/mates=2/model=global/matcher=table/as=goroutines 1 7 Mnodes/s
`))
	require.NoError(t, err)
	folder := t.TempDir()
	drawn, err := Draw(folder, set, "Some CPU")
	require.NoError(t, err)
	var files []string
	for _, f := range drawn {
		files = append(files, f.File)
	}
	assert.Equal(t, []string{"latency", "match", "threads", "uts", "share-isend", "share-isend-size"}, files)
	for file, words := range map[string][]string{
		"latency":     {">flat MPI<", ">message engine<", ">message engine, global<"},
		"share-isend": {">global<", ">lockq<", ">threads<"},
		"threads":     {">signal and switch<", ">message<", ">ring<"},
		"match":       {">hash table<", ">two queues<", ">pending receives<"},
	} {
		svg, err := os.ReadFile(filepath.Join(folder, file+".svg"))
		require.NoError(t, err)
		for _, want := range words {
			assert.Contains(t, string(svg), want)
		}
	}
}

// The ratios have a row for what was measured, in two groups, with a mark for each mode and the line at 1.
func TestRatios(t *testing.T) {
	set, err := results.Read(strings.NewReader(`
BenchmarkBandwidth/mode=flat/between=processes/pairs=1/size=4194304 1 10 GB/s
BenchmarkBandwidth/mode=tpsl/between=threads/pairs=1/size=4194304 1 40 GB/s
BenchmarkBandwidth/mode=private/between=threads/pairs=1/size=4194304 1 30 GB/s
BenchmarkMemory/mode=flat/ranks=16 1 8 MiB/rank
BenchmarkMemory/mode=tpsl/ranks=16 1 4 MiB/rank
BenchmarkRate/mode=tpsl/between=processes/pairs=2/size=8 1 4 Mmsg/s
`))
	require.NoError(t, err)
	groups := ratiosOf(set)
	require.Len(t, groups, 2)
	require.Len(t, groups[0].rows, 1, "without the base there is no ratio")
	assert.Equal(t, row{"bandwidth, 4 MiB", []mark{{"mode=tpsl", point{4, 4, 4, 4}}, {"mode=private", point{3, 3, 3, 3}}}}, groups[0].rows[0])
	require.Len(t, groups[1].rows, 1)
	assert.Equal(t, []mark{{"mode=tpsl", point{0.5, 0.5, 0.5, 0.5}}}, groups[1].rows[0].marks)

	folder := t.TempDir()
	there, err := Ratios(folder, set, "Some CPU")
	require.NoError(t, err)
	require.True(t, there)
	svg, err := os.ReadFile(filepath.Join(folder, "ratios.svg"))
	require.NoError(t, err)
	for _, want := range []string{">bandwidth, 4 MiB<", ">memory of 16 ranks<", ">more is better<", ">less is better<", ">4<", ">0.5<", ">Some CPU; medians with 95 % intervals<"} {
		assert.Contains(t, string(svg), want)
	}
	for _, mode := range []string{"mode=tpsl", "mode=private"} {
		c := ofMode[mode].color
		assert.Contains(t, strings.ToUpper(string(svg)), fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B), mode)
	}

	there, err = Ratios(folder, &results.Set{}, "")
	require.NoError(t, err)
	assert.False(t, there)
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plots

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tpsl/tpsl/tests/bench/results"
)

// A comparison is a row of the picture of ratios: a benchmark of several modes beside that of a base.
type comparison struct {
	label string
	of    func(mode string) string // the benchmark's name
	base  string                   // its mode
	modes []string
}

var (
	sharing = []string{"tpsl", "private"}
	threads = []string{"tpsl"}
)

// onePairOf names a benchmark of one pair of ranks in one process; those of a baseline are in two.
func onePairOf(kind string, size int) func(mode string) string {
	return func(mode string) string {
		between := "threads"
		if slices.Contains(baselines, mode) {
			between = "processes"
		}
		return fmt.Sprintf("%s/mode=%s/between=%s/pairs=1/size=%d", kind, mode, between, size)
	}
}

// format names a benchmark by a pattern with a place for the mode.
func format(pattern string) func(mode string) string {
	return func(mode string) string { return fmt.Sprintf(pattern, mode) }
}

// compared are the rows, in the order in which they stand.
var compared = []struct {
	title string
	rows  []comparison
}{
	{"more is better", []comparison{
		{"bandwidth, 4 MiB", onePairOf("Bandwidth", 4<<20), "flat", sharing},
		{"bandwidth, 64 KiB", onePairOf("Bandwidth", 64<<10), "flat", sharing},
		{"message rate, 8 B", onePairOf("Rate", 8), "flat", sharing},
		{"rate of 2 pairs / threaded MPI, tags", format("Rate/mode=%s/between=processes/pairs=2/size=8"), "tags", threads},
		{"the same, communicators", format("Rate/mode=%s/between=processes/pairs=2/size=8"), "comms", threads},
	}},
	{"less is better", []comparison{
		{"latency, 8 B", onePairOf("Latency", 8), "flat", sharing},
		{"halo exchange of a cube, 2 threads", format("Halo/mode=%s/grid=cube/plane=xz/threads=2"), "flat", threads},
		{"start-up of 64 ranks", format("Startup/by=mpiexec/mode=%s/ranks=64/setting=default"), "flat", sharing},
		{"memory of 16 ranks", format("Memory/mode=%s/ranks=16"), "flat", sharing},
	}},
}

// A group is the rows of which more is better, or less.
type group struct {
	title string
	rows  []row
}

// A row is a comparison that was measured.
type row struct {
	label string
	marks []mark
}

// A mark is a mode's ratio to the base.
type mark struct {
	key   string // of the mode
	ratio point  // x and y are both the median
}

// ratiosOf returns the comparisons that were measured, without empty groups.
func ratiosOf(found *results.Set) (groups []group) {
	for _, c := range compared {
		g := group{title: c.title}
		for _, wanted := range c.rows {
			r := row{label: wanted.label}
			for _, mode := range wanted.modes {
				s, ok := found.Ratio(wanted.of(mode), wanted.of(wanted.base))
				if !ok || s.Median <= 0 {
					continue
				}
				p := point{s.Median, s.Median, s.Median, s.Median}
				if s.Bounded() && s.Low > 0 {
					p.low, p.high = s.Low, s.High
				}
				r.marks = append(r.marks, mark{"mode=" + mode, p})
			}
			if len(r.marks) > 0 {
				g.rows = append(g.rows, r)
			}
		}
		if len(g.rows) > 0 {
			groups = append(groups, g)
		}
	}
	return groups
}

const (
	ratiosFile  = "ratios"
	ratiosTitle = "Ratios: tpsl / a process for each rank"
	rowHeight   = 0.34 * vg.Inch
	axisHeight  = 0.5 * vg.Inch
)

// Ratios draws into a folder the picture of the ratios to flat and threaded MPI, ratios.svg and ratios.png: a row for each
// comparison, with a line at 1. It returns whether there was anything to draw.
func Ratios(folder string, found *results.Set, caption string) (there bool, err error) {
	plot.DefaultFont.Variant = "Sans"
	groups := ratiosOf(found)
	if len(groups) == 0 {
		return false, nil
	}
	lines := len(groups)
	for _, g := range groups {
		lines += len(g.rows)
	}
	height := titleHeight + vg.Length(lines)*rowHeight + axisHeight + entryHeight + footHeight
	return true, write(folder, files(ratiosFile, height, func(c draw.Canvas) { paintRatios(c, groups, lines, caption) }))
}

// paintRatios draws the rows from top to bottom, each group below its title, on one logarithmic axis.
func paintRatios(c draw.Canvas, groups []group, lines int, caption string) {
	writeAround(c, ratiosTitle, caption+"; medians with 95 % intervals")
	d := plot.New()
	d.X.Scale, d.X.Tick.Marker, d.X.Label.Text = plot.LogScale{}, logTicks{}, "ratio"
	d.Y.Min, d.Y.Max, d.Y.LineStyle.Width, d.Y.Tick.Length = 0, float64(lines), 0, 0
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Width = color.Gray{225}, 0
	d.Add(grid)

	var named legend
	var labels plot.ConstantTicks
	low, high := 1.0, 1.0
	y := float64(lines)
	for _, g := range groups {
		y--
		labels = append(labels, plot.Tick{Value: y + 0.35, Label: g.title})
		for _, r := range g.rows {
			y--
			labels = append(labels, plot.Tick{Value: y + 0.5, Label: r.label})
			for n, m := range r.marks {
				named.addMark(d, m, y+0.5+0.42*(float64(len(r.marks)-1)/2-float64(n)))
				low, high = min(low, m.ratio.low), max(high, m.ratio.high)
			}
		}
	}
	d.X.Min, d.X.Max = low/1.15, high*math.Pow(high/low, 0.1) // room for the last value
	d.Y.Tick.Marker = labels
	d.Add(&plotter.Line{XYs: plotter.XYs{{X: 1, Y: 0}, {X: 1, Y: float64(lines)}}, LineStyle: lineStyle(limits, 1.2)})
	d.Draw(draw.Crop(c, 8, -8, footHeight+entryHeight, -titleHeight))
	named.draw(draw.Crop(c, labelWidth, 0, footHeight, footHeight+entryHeight-(c.Max.Y-c.Min.Y)), perRow)
}

// addMark draws a ratio with its interval, and its median behind that.
func (g *legend) addMark(d *plot.Plot, m mark, y float64) {
	s := ofMode[m.key]
	at := plotter.XYs{{X: m.ratio.x, Y: y}}
	dot := &plotter.Scatter{XYs: at, GlyphStyle: draw.GlyphStyle{Color: s.color, Radius: 3.5, Shape: s.glyph}}
	bar := &plotter.XErrorBars{XYs: at, LineStyle: lineStyle(s.color, 1.3), CapWidth: 5}
	bar.XErrors = append(bar.XErrors, struct{ Low, High float64 }{m.ratio.x - m.ratio.low, m.ratio.high - m.ratio.x})
	value, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{{X: m.ratio.high, Y: y}}, Labels: []string{fmt.Sprintf("%.3g", m.ratio.x)}})
	if err != nil {
		panic(err) // the label has one place
	}
	value.Offset = vg.Point{X: 5}
	text := &value.TextStyle[0]
	text.Font, text.YAlign, text.Color = plot.DefaultFont, draw.YCenter, s.color
	text.Font.Size = 9
	d.Add(bar, dot, value)
	g.lines = add(g.lines, entry{m.key, word(m.key), []plot.Thumbnailer{dot}})
}

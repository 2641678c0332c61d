// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plots

import (
	"fmt"
	"image/color"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A style tells a line from others: its colour says the mode, in every figure, and glyph and dashes tell lines of one mode
// apart.
type style struct {
	color   color.RGBA
	glyph   draw.GlyphDrawer
	variant int // how many lines of the same colour were there before
}

// The colours of modes are from the palette of Okabe and Ito, which colour-blind readers can tell apart, in steps of grey.
var ofMode = map[string]style{
	"mode=flat":        {color.RGBA{0, 0, 0, 255}, draw.SquareGlyph{}, 0},
	"mode=flat-yields": {color.RGBA{130, 130, 130, 255}, draw.BoxGlyph{}, 0},
	"mode=tags":        {color.RGBA{213, 94, 0, 255}, draw.TriangleGlyph{}, 0},
	"mode=threaded":    {color.RGBA{213, 94, 0, 255}, draw.TriangleGlyph{}, 0},
	"mode=comms":       {color.RGBA{230, 159, 0, 255}, draw.PlusGlyph{}, 0},
	"mode=tpsl":        {color.RGBA{0, 90, 170, 255}, draw.CircleGlyph{}, 0},
	"mode=private":     {color.RGBA{86, 180, 233, 255}, draw.RingGlyph{}, 0},
	"mode=engine":      {color.RGBA{0, 130, 95, 255}, draw.PyramidGlyph{}, 0},
}

// ofOthers are the colours of lines without a mode, in turn. None of them is a mode's.
var ofOthers = []style{
	{color.RGBA{170, 68, 153, 255}, draw.CircleGlyph{}, 0},
	{color.RGBA{153, 153, 51, 255}, draw.SquareGlyph{}, 0},
	{color.RGBA{136, 34, 85, 255}, draw.TriangleGlyph{}, 0},
	{color.RGBA{140, 86, 75, 255}, draw.RingGlyph{}, 0},
	{color.RGBA{221, 204, 119, 255}, draw.PyramidGlyph{}, 0},
	{color.RGBA{204, 102, 119, 255}, draw.PlusGlyph{}, 0},
	{color.RGBA{80, 70, 140, 255}, draw.CrossGlyph{}, 0},
}

var (
	limits   = color.RGBA{120, 120, 120, 255}
	glyphs   = []draw.GlyphDrawer{draw.CrossGlyph{}, draw.RingGlyph{}, draw.PlusGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}}
	dashings = [][]vg.Length{nil, {5, 2}, {2, 2}, {8, 2, 2, 2}}
)

// dashes returns the dashes of a line; the first line of a colour has none.
func (s style) dashes() []vg.Length { return dashings[s.variant%len(dashings)] }

// styleOf returns a line's style: its mode's, or one of those for lines without a mode. A further line of the same colour in
// a figure has another glyph, and dashes.
func styleOf(key string, used map[string]style) style {
	if s, ok := used[key]; ok {
		return s
	}
	s, ofAMode := modeStyle(key)
	if !ofAMode {
		others := 0
		for other := range used {
			if _, mode := modeStyle(other); !mode {
				others++
			}
		}
		s = ofOthers[others%len(ofOthers)]
	}
	for _, other := range used {
		if other.color == s.color {
			s.variant++
		}
	}
	if s.variant > 0 {
		s.glyph = glyphs[(s.variant-1)%len(glyphs)]
	}
	used[key] = s
	return s
}

// modeStyle returns the style of the mode that a key names.
func modeStyle(key string) (style, bool) {
	for part := range strings.SplitSeq(key, "/") {
		if s, ok := ofMode[part]; ok {
			return s, true
		}
	}
	return style{}, false
}

// place returns where a value is on the x axis: a step for each doubling, and 0
// below the smallest.
func place(x, smallest float64) float64 {
	if x <= 0 {
		return math.Log2(smallest) - 1
	}
	return math.Log2(x)
}

// xTicks marks the places that were measured, and labels as many of them as have room.
func xTicks(values []float64, smallest float64) (ticks plot.ConstantTicks) {
	room := (place(values[len(values)-1], smallest) - place(values[0], smallest)) / 10
	last := math.Inf(-1)
	for _, v := range values {
		at, label := place(v, smallest), ""
		if at-last >= room {
			label, last = short(v), at
		}
		ticks = append(ticks, plot.Tick{Value: at, Label: label})
	}
	return ticks
}

// short returns 4096 as "4K".
func short(v float64) string {
	for _, unit := range []struct {
		name string
		size float64
	}{{"M", 1 << 20}, {"K", 1 << 10}} {
		if v >= unit.size && math.Mod(v, unit.size) == 0 {
			return fmt.Sprintf("%g%s", v/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%g", v)
}

// logTicks are at 1, 2 and 5 times the powers of ten.
type logTicks struct{}

func (logTicks) Ticks(low, high float64) (ticks []plot.Tick) {
	wide := math.Log10(high/low) > 3
	for power := math.Floor(math.Log10(low)); power <= math.Ceil(math.Log10(high)); power++ {
		for _, digit := range []float64{1, 2, 5} {
			v := digit * math.Pow(10, power)
			if v < low || v > high {
				continue
			}
			label := strconv.FormatFloat(v, 'f', max(0, -int(math.Floor(power))), 64)
			if wide && digit != 1 {
				label = ""
			}
			ticks = append(ticks, plot.Tick{Value: v, Label: label})
		}
	}
	return ticks
}

func lineStyle(c color.Color, width float64, dashes ...vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: vg.Points(width), Dashes: dashes}
}

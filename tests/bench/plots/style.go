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

// A style tells a line from others by colour, by the grey of it, and by glyph.
type style struct {
	color color.RGBA
	glyph draw.GlyphDrawer
}

// From the palette of Okabe and Ito, which colour-blind readers can tell apart,
// in steps of grey.
var (
	black     = style{color.RGBA{0, 0, 0, 255}, draw.SquareGlyph{}}
	vermilion = style{color.RGBA{213, 94, 0, 255}, draw.TriangleGlyph{}}
	orange    = style{color.RGBA{230, 159, 0, 255}, draw.PlusGlyph{}}
	blue      = style{color.RGBA{0, 90, 170, 255}, draw.CircleGlyph{}}
	sky       = style{color.RGBA{86, 180, 233, 255}, draw.RingGlyph{}}
	green     = style{color.RGBA{0, 130, 95, 255}, draw.PyramidGlyph{}}
	purple    = style{color.RGBA{204, 121, 167, 255}, draw.CrossGlyph{}}
	limits    = color.RGBA{120, 120, 120, 255}
)

var (
	ofMode = map[string]style{"mode=flat": black, "mode=tags": vermilion, "mode=threaded": vermilion, "mode=comms": orange,
		"mode=tpsl": blue, "mode=private": sky, "mode=engine": green}
	inTurn = []style{black, blue, vermilion, green, sky, orange, purple}
)

// styleOf returns a line's style: its mode's, unless an earlier line of the figure has that.
func styleOf(key string, used map[string]style) style {
	if s, ok := used[key]; ok {
		return s
	}
	taken := map[style]bool{}
	for _, s := range used {
		taken[s] = true
	}
	var choice []style
	for part := range strings.SplitSeq(key, "/") {
		if s, ok := ofMode[part]; ok {
			choice = append(choice, s)
		}
	}
	for _, s := range append(choice, inTurn...) {
		if !taken[s] {
			used[key] = s
			return s
		}
	}
	used[key] = inTurn[len(used)%len(inTurn)]
	return used[key]
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

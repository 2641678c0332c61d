// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/tpsl/tpsl/internal/numbers"
	"github.com/tpsl/tpsl/internal/ranges"
)

// A column is a figure of rows. A key of the keyboard sorts by it.
type column struct {
	title, key string
	width      int                // least, in characters
	left       bool               // text, which is aligned to the left
	weight     int                // columns of the least weight go first where there is no room
	cell       func(row) string   // "" is shown as a dash
	compare    func(a, b row) int // how rows are sorted at the first press of the key; the second press turns that round
}

const (
	// stateWidth is the least width of the last column, which has the room that is left.
	stateWidth = 20
	// widest bounds the other columns.
	widest = 12
	// always is the weight of columns that do not go.
	always = 99
)

var columns = []column{
	{"RANK", "r", 4, false, always, rankCell, func(a, b row) int { return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.ranks[0], b.ranks[0])) }},
	{"HOST", "h", 4, true, 6, func(r row) string { return r.host }, func(a, b row) int { return cmp.Compare(a.host, b.host) }},
	{"PID", "p", 6, false, 1, pidCell, func(a, b row) int { return cmp.Compare(firstOf(a.pids), firstOf(b.pids)) }},
	{"%MPI", "m", 5, false, always, func(r row) string { return percent(r.rate.mpi) }, func(a, b row) int { return cmp.Compare(b.rate.mpi, a.rate.mpi) }},
	{"%CPU", "c", 5, false, 8, func(r row) string { return percent(r.rate.cpu) }, func(a, b row) int { return cmp.Compare(b.rate.cpu, a.rate.cpu) }},
	{"MEMORY", "y", 8, false, 5, memoryCell, func(a, b row) int { return cmp.Compare(b.resident, a.resident) }},
	{"VCSW", "v", 5, false, 3, func(r row) string { return perSecond(r.rate.voluntary) }, func(a, b row) int { return cmp.Compare(b.rate.voluntary, a.rate.voluntary) }},
	{"IVCSW", "i", 5, false, 2, func(r row) string { return perSecond(r.rate.involuntary) }, func(a, b row) int { return cmp.Compare(b.rate.involuntary, a.rate.involuntary) }},
	{"FAULTS", "f", 6, false, 4, func(r row) string { return perSecond(r.rate.faults) }, func(a, b row) int { return cmp.Compare(b.rate.faults, a.rate.faults) }},
	{"FOR", "w", 5, true, 9, func(r row) string { return r.waitsFor }, func(a, b row) int { return cmp.Compare(len(b.waitsFor), len(a.waitsFor)) }},
	{"SINCE", "t", 5, false, 7, func(r row) string { return age(r.since) }, func(a, b row) int { return cmp.Compare(b.since, a.since) }},
	{"STATE", "s", stateWidth, true, always, func(r row) string { return r.state }, func(a, b row) int { return cmp.Compare(a.state, b.state) }},
}

func rankCell(r row) string {
	text := ranges.Format(r.ranks)
	if r.group > 0 {
		text = fmt.Sprintf("%d:%s", r.group, text)
	}
	return text
}

func pidCell(r row) string { return ranges.Format(r.pids) }

func firstOf(pids []int) int {
	if len(pids) == 0 {
		return 0
	}
	return pids[0]
}

// percent writes a share. Processors may be more than one.
func percent(share float64) string {
	if share < 0 {
		return ""
	}
	if tenths := math.Round(1000 * share); tenths < 9995 {
		return fmt.Sprintf("%.1f", tenths/10)
	}
	return numbers.Short(uint64(math.Round(100*share)), 5)
}

func perSecond(count float64) string {
	if count < 0 {
		return ""
	}
	return numbers.Short(uint64(math.Round(count)), 5)
}

// memoryCell writes the memory of a process, and how many ranks share it if these are several.
func memoryCell(r row) string {
	if r.resident == 0 {
		return ""
	}
	text := bytesText(r.resident)
	if r.together > 1 {
		text += fmt.Sprintf("/%d", r.together)
	}
	return text
}

// bytesText writes a size in at most five characters.
func bytesText(bytes uint64) string {
	value, unit := float64(bytes)/1024, 0
	for value >= 1023.5 && unit < len("kMGTP")-1 {
		value, unit = value/1024, unit+1
	}
	if value < 9.95 && unit > 0 {
		return fmt.Sprintf("%.1f%c", value, "kMGTP"[unit])
	}
	return fmt.Sprintf("%.0f%c", value, "kMGTP"[unit])
}

// age writes a time in at most five characters, but for very long ones.
func age(d time.Duration) string {
	switch {
	case d <= 0:
		return ""
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", math.Floor(d.Seconds()*10)/10)
	case d < 100*time.Second:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < 100*time.Minute:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 100*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}

// layout returns the columns that have room in a width, and their widths. A width of 0 has room for all.
func layout(rows []row, width int) (shown []column, widths []int) {
	for _, c := range columns {
		least := max(c.width, len(c.title))
		if c.title != "STATE" {
			for _, r := range rows {
				least = max(least, min(widest, len([]rune(c.cell(r)))))
			}
		}
		shown, widths = append(shown, c), append(widths, least)
	}
	for width > 0 && total(widths) > width {
		lightest := 0
		for i := range shown {
			if shown[i].weight <= shown[lightest].weight {
				lightest = i
			}
		}
		if shown[lightest].weight == always {
			break
		}
		shown, widths = append(shown[:lightest:lightest], shown[lightest+1:]...), append(widths[:lightest:lightest], widths[lightest+1:]...)
	}
	return shown, widths
}

// total is the width of a line with blanks between the columns.
func total(widths []int) int {
	sum := len(widths) - 1
	for _, width := range widths {
		sum += width
	}
	return sum
}

func titleLine(shown []column, widths []int) string {
	return line(shown, widths, func(c column) string { return c.title })
}

func rowLine(shown []column, widths []int, r row) string {
	return line(shown, widths, func(c column) string { return c.cell(r) })
}

// line puts cells side by side. What is too long is cut, but for the last cell.
func line(shown []column, widths []int, cell func(column) string) string {
	var parts []string
	for i, c := range shown {
		text := cell(c)
		if text == "" {
			text = "-"
		}
		if i == len(shown)-1 {
			parts = append(parts, text)
			break
		}
		if runes := []rune(text); len(runes) > widths[i] {
			text = string(runes[:widths[i]-1]) + "~"
		}
		blanks := strings.Repeat(" ", widths[i]-len([]rune(text)))
		if c.left {
			text += blanks
		} else {
			text = blanks + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

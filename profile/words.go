// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tpsl/tpsl/internal/numbers"
)

// three writes a number with three digits, or with more if it has them before the point.
func three(x float64) string {
	switch {
	case x >= 99.95:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case x >= 9.995:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// seconds writes a time: 12.3 s, 3.10 ms, 450 us.
func seconds(s float64) string {
	switch {
	case s == 0:
		return "0 s"
	case s < 0:
		return "-" + seconds(-s)
	case s >= 99999.5:
		return count(s) + " s"
	case s >= 0.9995:
		return three(s) + " s"
	case s >= 0.9995e-3:
		return three(s*1e3) + " ms"
	}
	return three(s*1e6) + " us"
}

// size writes a number of bytes: 1.50 MiB.
func size(bytes float64) string {
	units := []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	if bytes < 1023.5 {
		return count(bytes) + " B"
	}
	i := 0
	for bytes /= 1024; bytes >= 1023.5 && i < len(units)-1; i++ {
		bytes /= 1024
	}
	return three(bytes) + " " + units[i]
}

// shortSize writes the border of a class of sizes, which is a power of two: 64 KiB.
func shortSize(bytes int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	i := 0
	for bytes >= 1024 && i < len(units)-1 {
		bytes /= 1024
		i++
	}
	return fmt.Sprintf("%d %s", bytes, units[i])
}

// class writes a class of sizes by what it goes from: 64 to 127 B.
func class(from int64) string {
	switch {
	case from < 2:
		return shortSize(from)
	case from < 1024:
		return fmt.Sprintf("%d-%d B", from, 2*from-1)
	}
	return shortSize(from) + "-" + shortSize(2*from)
}

// count writes a number of things, with a comma before each group of three digits.
func count(n float64) string {
	if n >= 1e18 {
		return strconv.FormatFloat(n, 'g', 3, 64)
	}
	return numbers.Thousands(uint64(math.Round(max(0, n))))
}

// percent writes a share: 64 %; 6.4 %, as there a digit more tells something.
func percent(share float64) string {
	switch p := 100 * share; {
	case p == 0:
		return "0 %"
	case p < 0.05:
		return "<0.1 %"
	case p < 9.95:
		return strconv.FormatFloat(p, 'f', 1, 64) + " %"
	default:
		return strconv.FormatFloat(p, 'f', 0, 64) + " %"
	}
}

// number writes how many there are of something: 1 host, 2 hosts, 2 processes.
func number(n int, of string) string {
	plural := of + "s"
	if strings.HasSuffix(of, "s") {
		plural = of + "es"
	}
	if n == 1 {
		plural = of
	}
	return count(float64(n)) + " " + plural
}

// share is part of whole, and 0 of nothing.
func share(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return part / whole
}

// rankName is the number of a rank, with that of its group in front unless it is the job's first: 5, 1:5.
func (p *Profile) rankName(i int) string {
	r := &p.Ranks[i]
	if r.Group == 0 {
		return strconv.Itoa(r.Rank)
	}
	return fmt.Sprintf("%d:%d", r.Group, r.Rank)
}

// hostOf is the name of the host of a rank.
func (p *Profile) hostOf(rank int) string { return p.Hosts[p.Ranks[rank].Host].Name }

// where writes a place as solver.c:212, as the program's file if its lines are not known.
func (p *Profile) where(place int) string {
	if place == Other {
		return "other places"
	}
	c := &p.Places[place]
	switch {
	case c.File != "" && c.Line > 0:
		return path.Base(c.File) + ":" + strconv.Itoa(c.Line)
	case c.File != "":
		return path.Base(c.File)
	case c.Function != "":
		return c.Function + "()"
	case c.Object != "":
		return path.Base(c.Object)
	}
	return "unknown place"
}

// whole writes all that is known of a place: its file with the path, function and object.
func (p *Profile) whole(place int) string {
	if place == Other {
		return "places that did not fit into the table"
	}
	c := &p.Places[place]
	text := c.File
	if text != "" && c.Line > 0 {
		text += ":" + strconv.Itoa(c.Line)
	}
	for _, more := range []struct{ word, name string }{{"in ", c.Function}, {"of ", c.Object}} {
		if more.name != "" {
			text = strings.TrimSpace(text + " " + more.word + more.name)
		}
	}
	if text == "" {
		return "unknown place"
	}
	return text
}

// functionName is the name of a function, also for those that did not fit into the table.
func functionName(name string) string {
	if name == "" {
		return "other calls"
	}
	return name
}

// communicatorName writes a communicator: MPI_COMM_WORLD; or by its size if it has no name.
func (p *Profile) communicatorName(i int) string {
	switch {
	case i == Other:
		return "other communicators"
	case i == None:
		return "-"
	case p.Communicators[i].Name == "":
		return "unnamed, number " + strconv.Itoa(i)
	}
	return p.Communicators[i].Name
}

// cut shortens a text to so many characters, of which the last one says so.
func cut(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:width-1]) + "~"
}

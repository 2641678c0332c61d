// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tpsl/tpsl/internal/terminal"
)

// width is that of a terminal, for which text is made.
const width = 80

// A column of a table in text.
type column struct {
	head string
	left bool // its words begin at the left; numbers end at the right
	most int  // characters; 0: as many as there are
}

// writeTable writes rows under their heads, in columns as wide as they must be, with an indent of two.
func writeTable(to *strings.Builder, columns []column, rows [][]string) {
	heads := make([]string, len(columns))
	for i, c := range columns {
		heads[i] = c.head
	}
	rows = append([][]string{heads}, rows...)
	widths := make([]int, len(columns))
	for _, row := range rows {
		for i := range row {
			row[i] = terminal.Printable(row[i])
			if columns[i].most > 0 {
				row[i] = cut(row[i], columns[i].most)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, word := range row {
			gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(word))
			if columns[i].left {
				line.WriteString("  " + word + gap)
			} else {
				line.WriteString("  " + gap + word)
			}
		}
		to.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

// writeParagraph writes a text in lines that fit the terminal. Lines begin with the indent; the first one with first in its place.
func writeParagraph(to *strings.Builder, first, indent, text string) {
	line, room := first, width-utf8.RuneCountInString(first)
	empty := true
	for word := range strings.FieldsFuncSeq(glued(terminal.Printable(text)), func(r rune) bool { return r == ' ' }) {
		for _, piece := range pieces(word, width-utf8.RuneCountInString(indent)) {
			if need := utf8.RuneCountInString(piece) + 1; !empty && need > room {
				to.WriteString(unglued(line) + "\n")
				line, room, empty = indent, width-utf8.RuneCountInString(indent), true
			}
			if !empty {
				line += " "
				room--
			}
			line += piece
			room -= utf8.RuneCountInString(piece)
			empty = false
		}
	}
	to.WriteString(strings.TrimRight(unglued(line), " ") + "\n")
}

// pieces cuts a word that is longer than a line.
func pieces(word string, most int) (all []string) {
	for utf8.RuneCountInString(word) > most {
		head := string([]rune(word)[:most])
		all = append(all, head)
		word = word[len(head):]
	}
	return append(all, word)
}

const noBreak = "\u00a0"

var unit = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(\d|-rpp|Rank|rank) (s|ms|us|B|[KMGTPE]iB|%|\d+)([^\w]|$)`)
})

// glued puts spaces at which no line ends between a number and its unit.
func glued(text string) string { return unit().ReplaceAllString(text, "$1"+noBreak+"$2$3") }

func unglued(text string) string { return strings.ReplaceAll(text, noBreak, " ") }

// writeHead begins a section.
func writeHead(to *strings.Builder, head string) {
	to.WriteString("\n" + head + "\n")
}

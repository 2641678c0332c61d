// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package turns

import (
	"fmt"
	"io"
	"time"
)

// A Progress tells what runs, on one line. On a terminal the line is refreshed
// in place, elsewhere a new one comes now and then.
type Progress struct {
	w        io.Writer
	terminal bool
	told     time.Time
}

// NewProgress tells it on a stream, which is a terminal's or not.
func NewProgress(w io.Writer, terminal bool) *Progress { return &Progress{w: w, terminal: terminal} }

// tellEvery is the time between two lines where there is no terminal.
const tellEvery = 30 * time.Second

func (p *Progress) tell(line string) {
	switch {
	case p.terminal:
		const clear = "\r\x1b[K"
		fmt.Fprintf(p.w, "%s%.79s", clear, line)
	case time.Since(p.told) >= tellEvery:
		p.told = time.Now()
		fmt.Fprintln(p.w, line)
	}
}

// Finish leaves the terminal's cursor at the begin of a line.
func (p *Progress) Finish() {
	if p.terminal {
		fmt.Fprintln(p.w)
	}
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"time"
)

// A progress tells what runs, on one line. On a terminal the line is refreshed
// in place, elsewhere a new one comes now and then.
type progress struct {
	w        io.Writer
	terminal bool
	told     time.Time
}

// tellEvery is the time between two lines where there is no terminal.
const tellEvery = 30 * time.Second

func (p *progress) tell(line string) {
	switch {
	case p.terminal:
		const clear = "\r\x1b[K"
		fmt.Fprintf(p.w, "%s%.79s", clear, line)
	case time.Since(p.told) >= tellEvery:
		p.told = time.Now()
		fmt.Fprintln(p.w, line)
	}
}

// finish leaves the terminal's cursor at the begin of a line.
func (p *progress) finish() {
	if p.terminal {
		fmt.Fprintln(p.w)
	}
}

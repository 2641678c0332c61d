// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"fmt"
	"io"
	"strings"
)

// screen is a table at the end of a terminal that is drawn over the one before.
type screen struct {
	w     io.Writer
	size  Size
	lines int // drawn last
}

// draw writes as much of a text as there is room for: what a terminal carries on in its next line, or moves out at its top,
// cannot be taken off again.
func (s *screen) draw(text string) error {
	rows, columns := s.size()
	s.clear()
	var room strings.Builder
	for line := range strings.Lines(text) {
		if s.lines++; s.lines == rows { // the cursor is in the last one
			s.lines--
			break
		}
		line = strings.TrimSuffix(line, "\n")
		room.WriteString(line[:min(len(line), columns)] + "\n")
	}
	_, err := io.WriteString(s.w, room.String())
	return err
}

// clear takes the table off.
func (s *screen) clear() {
	if s.lines > 0 {
		fmt.Fprintf(s.w, "\x1b[%dA\x1b[J", s.lines)
	}
	s.lines = 0
}

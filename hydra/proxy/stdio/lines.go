// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package stdio

import "bytes"

// maxLine is how long an unfinished line may become in memory, in bytes. A longer line is passed on in pieces.
const maxLine = 1 << 20

// A lineCutter turns chunks of output into whole lines, each after a prefix.
type lineCutter struct {
	rewrite func([]byte) []byte // changes lines before they get their prefix; nil: does not
	prefix  func() string       // nil: none
	emit    func([]byte)
	partial []byte
	middle  bool // the last piece emitted did not end a line
}

// write takes a chunk and emits every line that is complete.
func (c *lineCutter) write(chunk []byte) {
	end := bytes.LastIndexByte(chunk, '\n') + 1
	if end > 0 {
		c.pass(append(c.partial, chunk[:end]...))
		c.partial = nil
	}
	c.partial = append(c.partial, chunk[end:]...)
	if len(c.partial) >= maxLine {
		c.flush()
	}
}

// flush emits an unfinished line.
func (c *lineCutter) flush() {
	if len(c.partial) > 0 {
		c.pass(c.partial)
		c.partial = nil
	}
}

func (c *lineCutter) pass(text []byte) {
	if c.rewrite != nil {
		text = c.rewrite(text)
	}
	if c.prefix != nil {
		text = c.label(text)
	}
	c.middle = text[len(text)-1] != '\n'
	c.emit(text)
}

func (c *lineCutter) label(text []byte) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		if !c.middle {
			out = append(out, c.prefix()...)
		}
		c.middle = false
		out = append(out, line...)
	}
	return out
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// maxRequest bounds a request line. MPICH sends less than 1024 bytes; spawn arguments may be longer.
const maxRequest = 64 << 10

var (
	errTooLong = errors.New("line too long")
	errPMI2    = errors.New("PMI-2 message")
)

// A lineReader cuts a byte stream into lines of bounded length.
type lineReader struct {
	in     *bufio.Reader
	unread *string // a line given back by skipBlock
}

func newLineReader(in io.Reader) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(in, 4096)}
}

// next returns the next line without its newline. After errTooLong the line is consumed and reading can go on;
// a stream that ends inside a line gives io.ErrUnexpectedEOF.
func (r *lineReader) next() (string, error) {
	if r.unread != nil {
		line := *r.unread
		r.unread = nil
		return line, nil
	}
	if r.startsPMI2() {
		return "", errPMI2
	}
	var line []byte
	tooLong := false
	for {
		part, err := r.in.ReadSlice('\n')
		if len(line)+len(part) > maxRequest {
			line, tooLong = nil, true
		} else if !tooLong {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (len(line) > 0 || tooLong): // io.EOF, or ECONNRESET of a peer that left replies unread
			return "", io.ErrUnexpectedEOF
		case err != nil:
			return "", err
		case tooLong:
			return "", errTooLong
		}
		return strings.TrimRight(string(line), "\r\n"), nil
	}
}

// startsPMI2 tells a PMI-2 message by its first six characters, a decimal length padded with blanks on either side.
func (r *lineReader) startsPMI2() bool {
	first, err := r.in.Peek(1)
	if err != nil || !isLengthByte(first[0]) {
		return false
	}
	prefix, err := r.in.Peek(6)
	if err != nil {
		return false
	}
	digits := 0
	for _, c := range prefix {
		if !isLengthByte(c) {
			return false
		}
		if c != ' ' {
			digits++
		}
	}
	return digits > 0
}

func isLengthByte(c byte) bool { return c == ' ' || '0' <= c && c <= '9' }

// skipBlock consumes the lines of a multi-line message up to the endcmd of its last block: spawn sends totspawns
// blocks, each with its own mcmd= line. A new cmd= line ends an unfinished block and is given back.
func (r *lineReader) skipBlock() error {
	total, current := "", ""
	for {
		line, err := r.next()
		if err != nil && !errors.Is(err, errTooLong) {
			return err
		}
		key, value, _ := strings.Cut(line, "=")
		switch key {
		case "cmd":
			r.unread = &line
			return nil
		case "totspawns":
			total = value
		case "spawnssofar":
			current = value
		case "endcmd":
			if current == total {
				return nil
			}
		}
	}
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"
)

const (
	// maxRequest bounds a request line; spawn arguments may be long.
	maxRequest = 64 << 10
	// usualRequest is what MPICH's requests stay below.
	usualRequest = 1 << 10
)

// maxBlock bounds all lines of a spawn request.
const maxBlock = 1 << 20

// lengthDigits is how many characters of length stand before a PMI-2 message.
const lengthDigits = 6

var errTooLong = errors.New("line too long")

// A lineReader cuts a byte stream into messages of bounded length: lines, and PMI-2's messages of a stated length.
type lineReader struct {
	in     *bufio.Reader
	unread *string // a line given back by block
}

func newLineReader(in io.Reader) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(in, usualRequest)}
}

// message returns the next message and whether it is one of PMI-2. Its first bytes tell.
func (r *lineReader) message() (text string, isPMI2 bool, err error) {
	length, isPMI2 := r.startsPMI2()
	if !isPMI2 {
		text, err = r.next()
		return text, false, err
	}
	body := make([]byte, lengthDigits+length)
	if _, err := io.ReadFull(r.in, body); err != nil {
		return "", true, io.ErrUnexpectedEOF
	}
	return string(body[lengthDigits:]), true, nil
}

// next returns the next line without its newline. After errTooLong the line is consumed and reading can go on;
// a stream that ends inside a line gives io.ErrUnexpectedEOF.
func (r *lineReader) next() (string, error) {
	if r.unread != nil {
		line := *r.unread
		r.unread = nil
		return line, nil
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

// startsPMI2 tells a PMI-2 message by its first six characters, a decimal length padded with blanks on either side
// (Hydra's clients pad on the left, Slurm's on the right).
func (r *lineReader) startsPMI2() (length int, isPMI2 bool) {
	if r.unread != nil {
		return 0, false
	}
	if first, err := r.in.Peek(1); err != nil || first[0] != ' ' && (first[0] < '0' || first[0] > '9') {
		return 0, false
	}
	prefix, err := r.in.Peek(lengthDigits)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.Trim(string(prefix), " "), 10, 32)
	return int(n), err == nil
}

// block returns the lines of a multi-line message after its first, up to the endcmd of its last block: spawn sends
// totspawns blocks, each with its own mcmd= line. A new cmd= line ends an unfinished block and is given back.
func (r *lineReader) block() (lines []string, complete bool, err error) {
	total, current, size := "", "", 0
	for {
		line, err := r.next()
		if err != nil && !errors.Is(err, errTooLong) {
			return nil, false, err
		}
		if size += len(line); err != nil || size > maxBlock {
			lines = nil // it will not be complete
			size = maxBlock
		}
		key, value, _ := strings.Cut(line, "=")
		switch key {
		case "cmd":
			r.unread = &line
			return nil, false, nil
		case "totspawns":
			total = value
		case "spawnssofar":
			current = value
		case "endcmd":
			if current == total {
				return lines, size < maxBlock, nil
			}
		}
		if size < maxBlock {
			lines = append(lines, line)
		}
	}
}

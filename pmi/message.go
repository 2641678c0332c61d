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

// Limits announced by get_maxes. Clients keep buffers of these sizes on their stack, so they must not grow.
const (
	KVSNameMax = 256
	KeyLenMax  = 64
	ValLenMax  = 1024
)

// maxReply is the longest reply line a client of MPICH 4.0 holds, newline included (its buffer has 1024 bytes).
const maxReply = 1023

// ErrNoCommand means that a line names no command.
var ErrNoCommand = errors.New("line without cmd=")

// A Message is one request or reply.
type Message struct {
	Command string
	Multi   bool // mcmd=: lines follow up to endcmd
	args    map[string]string
	isPMI2  bool
	block   []string // the lines of a multi-line message, or the pairs of one of PMI-2
}

// toEndOfLine lists the keys whose value is the rest of the line: values may hold blanks and are never escaped.
var toEndOfLine = map[string]bool{"value": true, "message": true, "error_msg": true}

// Parse reads a line without its newline. Keys come in any order, bare words are skipped, the first use of a key counts.
func Parse(line string) (Message, error) {
	m := Message{args: make(map[string]string, 4)}
	for rest := strings.TrimRight(line, "\r\n"); rest != ""; {
		var token string
		token, rest, _ = strings.Cut(strings.TrimLeft(rest, " "), " ")
		key, value, found := strings.Cut(token, "=")
		if !found {
			continue
		}
		switch {
		case toEndOfLine[key]:
			if rest != "" {
				value += " " + rest
			}
			rest = ""
		case key == "service": // its name may hold blanks: the port ends it
			name, port, found := strings.Cut(" "+rest, " port=")
			value, rest = strings.TrimRight(value+name, " "), ""
			if found {
				rest = "port=" + port
			}
		}
		m.set(key, value)
	}
	if m.Command == "" {
		return m, ErrNoCommand
	}
	return m, nil
}

// ParsePMI2 reads a message of PMI-2 without its length: key=value pairs that each end with a semicolon.
func ParsePMI2(body string) (Message, error) {
	m := Message{args: make(map[string]string, 8), isPMI2: true}
	m.block = strings.Split(body, ";")
	for _, pair := range m.block {
		if key, value, found := strings.Cut(pair, "="); found {
			m.set(key, value)
		}
	}
	if m.Command == "" {
		return m, ErrNoCommand
	}
	return m, nil
}

func (m *Message) set(key, value string) {
	if (key == "cmd" || key == "mcmd") && m.Command == "" {
		m.Command, m.Multi = value, key == "mcmd"
		return
	}
	if _, found := m.args[key]; !found {
		m.args[key] = value
	}
}

// Get returns the value of key, or "" when the line has none.
func (m Message) Get(key string) string { return m.args[key] }

// Lookup returns the value of key and whether the line has it.
func (m Message) Lookup(key string) (string, bool) {
	value, found := m.args[key]
	return value, found
}

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

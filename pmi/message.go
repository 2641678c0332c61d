// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"errors"
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
		if toEndOfLine[key] {
			if rest != "" {
				value += " " + rest
			}
			rest = ""
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

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"fmt"
	"strings"
)

// A Tracer takes the wire trace: one line for each message, without a newline. It is called from many goroutines.
type Tracer func(line string)

// maxShown is how much of a message the trace shows. Addresses and shared memory names are longer than their beginnings say.
const maxShown = 200

// trace shows one message: -> is what the rank sends, <- what it gets.
func (s *session) trace(toRank bool, text string) {
	if s.server.trace == nil {
		return
	}
	arrow := "->"
	if toRank {
		arrow = "<-"
	}
	text = strings.TrimRight(text, "\n")
	if len(text) > maxShown {
		text = fmt.Sprintf("%s... (%d bytes)", text[:maxShown], len(text))
	}
	s.server.trace(fmt.Sprintf("[rank %d] %s %s", s.rank, arrow, printable(text)))
}

// printable keeps what a rank sent from moving the cursor of the reader's terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, text)
}

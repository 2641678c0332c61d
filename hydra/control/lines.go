// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"slices"

	"golang.org/x/sys/unix"
)

// A Kind is what a line tells.
type Kind int

// The kinds of lines.
const (
	Started     Kind = iota // a rank that is a process of its own runs
	Initialized             // a rank has initialised MPI, with or without PMI
	Faulted                 // a thread of a rank is about to die of a signal
	Aborting                // a rank asks for the end of the job, as by MPI_Abort
	Leaving                 // a thread of a rank has called exit
	Exited                  // a rank that was a process of its own has ended
)

// An Event is one line.
type Event struct {
	Kind   Kind
	Rank   int
	PID    int             // Started, Exited
	Signal unix.Signal     // Faulted
	Status unix.WaitStatus // Exited
	Code   int             // Aborting: the exit code of the job
}

// formats are those by which C writes the lines, without the newline.
var formats = [...]struct {
	text   string
	fields func(*Event) []any
}{
	Started:     {"start rank=%d pid=%d", func(e *Event) []any { return []any{&e.Rank, &e.PID} }},
	Initialized: {"initialized rank=%d", func(e *Event) []any { return []any{&e.Rank} }},
	Faulted:     {"fault rank=%d signal=%d", func(e *Event) []any { return []any{&e.Rank, &e.Signal} }},
	Aborting:    {"abort rank=%d code=%d", func(e *Event) []any { return []any{&e.Rank, &e.Code} }},
	Leaving:     {"leave rank=%d", func(e *Event) []any { return []any{&e.Rank} }},
	Exited:      {"exit rank=%d pid=%d status=%d", func(e *Event) []any { return []any{&e.Rank, &e.PID, &e.Status} }},
}

// Events reads a process's lines to their end. It skips lines of an unknown kind, and lines about ranks that are not in the
// set.
func Events(lines io.Reader, set []int) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		for scanner := bufio.NewScanner(lines); scanner.Scan(); {
			if e, ok := parse(scanner.Text()); ok && slices.Contains(set, e.Rank) && !yield(e) {
				return
			}
		}
	}
}

func parse(line string) (Event, bool) {
	for kind, format := range formats {
		e := Event{Kind: Kind(kind)}
		fields := format.fields(&e)
		if n, _ := fmt.Sscanf(line, format.text, fields...); n == len(fields) {
			return e, true
		}
	}
	return Event{}, false
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package turns

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/tests/bench/results"
)

// maxHangs is how often a side that hangs is waited for.
const maxHangs = 3

// An entrant is a side as a session knows it.
type entrant struct {
	Side
	contest int
	limit   time.Duration
	turns   int           // it runs in the first ones
	hung    int           // how often there was no answer
	dropped bool          // it is not run again
	took    time.Duration // its last run; 0 before the first
}

// A Session measures contests and writes the raw file.
type Session struct {
	raw      io.Writer
	progress *Progress
	entrants []*entrant
	turns    int
	found    results.Set
	library  LibraryCheck
	failed   int // sides that gave an error
}

// New makes a session of so many turns.
func New(raw io.Writer, p *Progress, contests []Contest, turns int) *Session {
	m := &Session{raw: raw, progress: p, turns: turns}
	for i, c := range contests {
		most := turns
		if c.Turns > 0 {
			most = min(turns, c.Turns)
		}
		for _, s := range c.Sides {
			m.entrants = append(m.entrants, &entrant{Side: s, contest: i, limit: c.Limit, turns: most})
		}
	}
	return m
}

// errDifferent ends a session; other errors end only a side's part in it.
type errDifferent struct{ error }

// Measure runs every side once in each turn, so that a change of the machine's
// mood meets all, and what is there after an interrupt is of all sides. Every
// second turn goes backwards: what a side leaves to the next one meets all, too.
func (m *Session) Measure(ctx context.Context) error {
	for turn := 1; turn <= m.turns; turn++ {
		fmt.Fprintf(m.raw, "# turn %d\n", turn)
		for i, e := range m.entrants {
			if e.dropped || turn > e.turns {
				continue
			}
			m.progress.tell(fmt.Sprintf("turn %d of %d, %s: %s", turn, m.turns, m.left(turn, i), e.Label()))
			err := m.run(ctx, turn, e)
			if ctx.Err() != nil {
				m.Note("partial: interrupted in turn %d of %d", turn, m.turns)
				return ctx.Err()
			}
			if errors.As(err, new(errDifferent)) {
				m.Note("partial: ended in turn %d of %d: %v", turn, m.turns, err)
				return err
			}
			m.judge(e, err)
		}
		slices.Reverse(m.entrants)
	}
	return nil
}

// run runs an entrant once.
func (m *Session) run(ctx context.Context, turn int, e *entrant) error {
	output, took, err := e.Run(ctx, e.limit)
	e.took = took
	if err != nil {
		return err
	}
	lines, libraries := TakeLibrary(output)
	first, err := m.library.See(e.contest, e.Label(), libraries)
	if err != nil {
		return errDifferent{err}
	}
	if first {
		fmt.Fprintf(m.raw, "# mpi-library: %s\n", describeLibraries(m.library.files))
	}
	if e.Job != "" {
		if lines, err = e.jobLine(lines, took); err != nil {
			return err
		}
	}
	if err := m.found.Add(turn, lines); err != nil {
		return err
	}
	_, err = io.WriteString(m.raw, lines)
	return err
}

// judge decides what an entrant's error means for its next turns.
func (m *Session) judge(e *entrant, err error) {
	switch {
	case err == nil:
	case e.Hangs && errors.Is(err, testsupport.ErrTimeout):
		e.hung++
		if e.hung == maxHangs {
			e.dropped = true
			m.Note("%s: no answer, %d times: %v", e.Label(), maxHangs, err)
		}
	default:
		e.dropped = true
		m.failed++
		m.Note("FAILED, not run again: %s: %v", e.Label(), err)
	}
}

// Note tells the reader of the summary something, in one line of the raw file.
func (m *Session) Note(format string, a ...any) {
	text := strings.Join(strings.Fields(fmt.Sprintf(format, a...)), " ")
	fmt.Fprintln(m.raw, "# note: "+text)
	m.found.Notes = append(m.found.Notes, text)
}

// Failed returns how many sides gave an error.
func (m *Session) Failed() int { return m.failed }

// left tells the time that the i-th entrant's run of a turn and all later ones
// take. An entrant that has not run yet takes the mean of those that have.
func (m *Session) left(turn, i int) string {
	var known, all time.Duration
	ran, unknown := 0, 0
	for j, e := range m.entrants {
		runs := e.turns - turn
		if j >= i {
			runs++
		}
		runs = max(runs, 0)
		switch {
		case e.took == 0:
			unknown += runs
		case e.dropped:
			known, ran = known+e.took, ran+1
		default:
			known, ran = known+e.took, ran+1
			all += time.Duration(runs) * e.took
		}
	}
	if ran == 0 {
		return "time left unknown"
	}
	return roughly(all+known/time.Duration(ran)*time.Duration(unknown)) + " left"
}

// roughly rounds to what a reader wants to know.
func roughly(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%d s", int(d.Round(time.Second).Seconds()))
	}
	return fmt.Sprintf("%d min", int(d.Round(time.Minute).Minutes()))
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package regcache

// A writer of the journal in Go, as tpsl_journal_tell of ib/verbs/journal.h does it; the
// race detector sees this one. It comes in two halves, to be stopped in between.

// take takes a place; the cell is nil if that of the place is in use, and the event lost.
func (j *Journal) take() (n uint64, free *cell) {
	n = j.taken.Load()
	for {
		cell := &j.cells[n%cells]
		switch turn := cell.turn.Load(); {
		case turn < n:
			j.lost.Add(1)
			return 0, nil
		case turn == n && j.taken.CompareAndSwap(n, n+1):
			return n, cell
		}
		n = j.taken.Load()
	}
}

// publish fills the cell that was taken, and counts the event.
func (j *Journal) publish(n uint64, cell *cell, r Range) {
	if cell != nil {
		cell.start, cell.end = r.Start, r.End
		cell.turn.Store(n + 1)
	}
	j.told.Add(1)
}

func (j *Journal) tell(r Range) {
	n, cell := j.take()
	j.publish(n, cell, r)
}

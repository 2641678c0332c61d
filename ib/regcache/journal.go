// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package regcache

import (
	"math"
	"structs"
	"sync/atomic"
)

// cells is how many events a journal holds; if more come between two calls of Acquire, all regions go stale.
const cells = 1024

// A Journal is where code that may not enter Go, such as a hook inside munmap, tells a
// cache of memory that is about to go. Its twin in C, with the only writer, is
// ib/verbs/journal.h. Events count once they are told: a writer counts what it has
// published, before the memory goes.
type Journal struct {
	_     structs.HostLayout
	told  atomic.Uint64 // events; a line of its own, since every Acquire reads it
	_     [56]byte
	taken atomic.Uint64 // places that writers have taken
	lost  atomic.Uint64 // events that found the cell of their place in use
	_     [48]byte
	cells [cells]cell
}

// A cell holds the event of place n, n+cells... Its turn says whose it is: n, the writer's
// that takes this place; n+1, the reader's; n+cells, the next writer's.
type cell struct {
	start, end uint64
	turn       atomic.Uint64
	_          uint64
}

func newJournal() *Journal {
	j := new(Journal)
	for i := range j.cells {
		j.cells[i].turn.Store(uint64(i))
	}
	return j
}

// Journal returns where to tell this cache of memory that goes. It may be written to
// for as long as it is reachable or pinned, also after Close.
func (c *Cache) Journal() *Journal { return c.journal }

// heed applies the first so many events that were told. One that is published and not
// told yet may be applied as well. Where a writer has taken a place and not published, its
// memory is still there: the place is read by a later call.
func (c *Cache) heed(told uint64) {
	c.reading.Lock()
	defer c.reading.Unlock()
	j := c.journal
	if lost := j.lost.Load(); lost != c.lost {
		c.lost = lost
		c.Invalidate(Range{0, math.MaxUint64})
	}
	for n, end := c.place, j.taken.Load(); n < end; n++ {
		cell := &j.cells[n%cells]
		if cell.turn.Load() == n+1 {
			c.Invalidate(Range{cell.start, cell.end})
			cell.turn.Store(n + cells)
		}
		// The next writer may have been here already, so that the turn is higher.
		if n == c.place && cell.turn.Load() >= n+cells {
			c.place++
		}
	}
	c.heeded.Store(told) // not what is told by now
}

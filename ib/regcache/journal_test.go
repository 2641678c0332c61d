// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package regcache

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// registrations tells how often acquiring the pages registers anew, and uses them.
func registrations(t *testing.T, n *nic, c *Cache, pages ...int) (new int64) {
	before := n.register.Load()
	for _, p := range pages {
		region := acquire(t, c, at(p, 1))
		n.use(at(p, 1), 1, region)()
		region.Release()
	}
	return n.register.Load() - before
}

// What the journal tells is applied by the next Acquire, once, and nothing else goes.
func TestAcquireHeedsTheJournal(t *testing.T) {
	n := newNIC(t, 8)
	c := newCache(t, n, Options{})
	registrations(t, n, c, 0, 2, 4)
	c.Journal().tell(at(2, 1))
	n.count(at(2, 1))
	n.remap(at(2, 1))
	c.Journal().tell(at(6, 1))
	assert.EqualValues(t, 1, registrations(t, n, c, 0, 2, 4))
	assert.Zero(t, registrations(t, n, c, 0, 2, 4))
	assert.Equal(t, c.journal.taken.Load(), c.place)
	n.closed(c)
	c.Journal().tell(at(2, 1))
}

// A writer that took a place and stopped holds up nobody: its memory is still there. What
// others tell behind it is applied, once, and what it tells in the end too.
func TestWriterStopsBeforeItPublishes(t *testing.T) {
	n := newNIC(t, 8)
	c := newCache(t, n, Options{})
	j := c.Journal()
	registrations(t, n, c, 0, 2, 4)
	place, cell := j.take()
	assert.Zero(t, registrations(t, n, c, 0, 2, 4))
	for range 3 {
		j.tell(at(2, 1))
		n.count(at(2, 1))
		n.remap(at(2, 1))
		assert.EqualValues(t, 1, registrations(t, n, c, 0, 2, 4))
	}
	j.publish(place, cell, at(0, 1))
	n.count(at(0, 1))
	n.remap(at(0, 1))
	assert.EqualValues(t, 1, registrations(t, n, c, 0, 2, 4))
	n.closed(c)
}

// More events than the journal holds: everything is stale, once, and then the journal
// goes on as before; also if the first writer is in the middle of it.
func TestJournalIsFull(t *testing.T) {
	for name, stopped := range map[string]bool{"all published": false, "the first one not": true} {
		t.Run(name, func(t *testing.T) {
			n := newNIC(t, 8)
			c := newCache(t, n, Options{})
			j := c.Journal()
			registrations(t, n, c, 0, 2)
			room := cells
			if stopped {
				room--
				defer j.publish(place(j, at(0, 1)))
			}
			for range room {
				j.tell(at(6, 1))
			}
			assert.Zero(t, registrations(t, n, c, 0, 2))
			for range room + 1 {
				j.tell(at(6, 1))
			}
			assert.EqualValues(t, 2, registrations(t, n, c, 0, 2))
			j.tell(at(2, 1))
			n.count(at(2, 1))
			n.remap(at(2, 1))
			assert.NotZero(t, registrations(t, n, c, 0, 2))
			n.closed(c)
		})
	}
}

func place(j *Journal, r Range) (uint64, *cell, Range) {
	n, cell := j.take()
	return n, cell, r
}

// A thread tells of its page and acquires it anew while another reads the journal all the
// time: there is no moment at which it counts an event as applied that is not, whether
// the journal has room or is full.
func TestTellWhileAnotherReads(t *testing.T) {
	for name, full := range map[string]bool{"room": false, "full": true} {
		t.Run(name, func(t *testing.T) {
			n := newNIC(t, 4)
			n.journal = true
			c := newCache(t, n, Options{})
			if full {
				c.journal.take()
				for range cells {
					c.journal.tell(Range{1, 2})
				}
			}
			var stop atomic.Bool
			var beside sync.WaitGroup
			beside.Go(func() {
				for !stop.Load() {
					c.journal.tell(Range{1, 2}) // so that there is something to read
					registrations(t, n, c, 2)
				}
			})
			for end := time.Now().Add(time.Second); time.Now().Before(end) && !t.Failed(); {
				registrations(t, n, c, 0)
				n.unmap(c, at(0, 1))
				n.remap(at(0, 1))
			}
			stop.Store(true)
			beside.Wait()
			n.closed(c)
		})
	}
}

// Writers fill the journal again and again, some of them stopping in the middle, while
// threads pass pages to one another by it.
func TestThreadsFillTheJournal(t *testing.T) {
	const pages, rounds = 16, 100
	n := newNIC(t, pages)
	n.journal = true
	c := newCache(t, n, Options{})
	h := &heap{nic: n, taken: make([]bool, pages)}
	var threads sync.WaitGroup
	for seed := range uint64(4) {
		threads.Go(func() {
			random := rand.New(rand.NewPCG(seed, 2))
			for range rounds {
				r, ok := h.take(random)
				if !ok {
					continue
				}
				region, err := c.Acquire(r, 1)
				if !assert.NoError(t, err) {
					return
				}
				n.use(r, 1, region)()
				region.Release()
				place, cell := c.journal.take()
				for range random.IntN(2 * cells) {
					c.journal.tell(Range{1, 2})
				}
				c.journal.publish(place, cell, r)
				n.count(r)
				h.give(c, r, false)
			}
		})
	}
	threads.Wait()
	assert.NotZero(t, c.journal.lost.Load())
	c.heed(c.journal.told.Load())
	assert.Equal(t, c.journal.taken.Load(), c.place) // all were read
	n.closed(c)
}

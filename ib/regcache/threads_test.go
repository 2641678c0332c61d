// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package regcache

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A heap hands pages out to threads, as malloc does: a range has one owner, pages that
// come back stay mapped or go.
type heap struct {
	sync.Mutex
	nic   *nic
	taken []bool
}

// take returns a free range, mapped; ok is false if it found none.
func (h *heap) take(random *rand.Rand) (r Range, ok bool) {
	h.Lock()
	defer h.Unlock()
	n := random.IntN(4) + 1
	first := random.IntN(len(h.taken) - n + 1)
	for i := first; i < first+n; i++ {
		if h.taken[i] {
			return Range{}, false
		}
	}
	for i := first; i < first+n; i++ {
		h.taken[i] = true
		if h.nic.mapped[i].Load()%2 == 0 {
			h.nic.remap(at(i, 1))
		}
	}
	return at(first, n), true
}

// give takes a range back, and gives it to the system if unmap says so.
func (h *heap) give(c *Cache, r Range, unmap bool) {
	if unmap {
		h.nic.unmap(c, r)
	}
	h.Lock()
	defer h.Unlock()
	for a := r.Start; a < r.End; a += page {
		h.taken[(a-base)/page] = false
	}
}

// Threads allocate, transfer and free while pages go from one to the other: no transfer
// reaches memory that has gone, and nothing is deregistered early, twice or never.
func TestThreadsReuseMemory(t *testing.T) {
	const pages, rounds = 32, 4000
	room, tight := Options{}, Options{Regions: 6, Bytes: 24 * int64(page)}
	for name, limit := range map[string]Options{"room": room, "tight": tight, "journal": room, "tight, journal": tight} {
		t.Run(name, func(t *testing.T) {
			n := newNIC(t, pages)
			n.journal = strings.Contains(name, "journal")
			c := newCache(t, n, limit)
			h := &heap{nic: n, taken: make([]bool, pages)}
			var transfers atomic.Int64
			var threads sync.WaitGroup
			for seed := range uint64(6) {
				threads.Go(func() {
					random := rand.New(rand.NewPCG(seed, 1))
					for range rounds {
						if t.Failed() {
							return
						}
						r, ok := h.take(random)
						if !ok {
							continue
						}
						for range random.IntN(4) {
							part := Range{r.Start + uint64(random.IntN(int(page))), r.End}
							access := Access(1 + random.IntN(3))
							region, err := c.Acquire(part, access)
							if !assert.NoError(t, err) {
								return
							}
							done := n.use(part, access, region)
							transfers.Add(1)
							done()
							region.Release()
						}
						h.give(c, r, random.IntN(2) == 0)
					}
				})
			}
			threads.Wait()
			t.Logf("%d transfers, %d registrations", transfers.Load(), n.register.Load())
			n.closed(c)
		})
	}
}

// All threads send one buffer, of which one region serves, while a thread beside it frees
// and maps the page next to it.
func TestThreadsShareARegion(t *testing.T) {
	for name, journal := range map[string]bool{"invalidate": false, "journal": true} {
		t.Run(name, func(t *testing.T) { shareARegion(t, journal) })
	}
}

func shareARegion(t *testing.T, journal bool) {
	n := newNIC(t, 8)
	n.journal = journal
	c := newCache(t, n, Options{})
	var stop atomic.Bool
	var threads, beside sync.WaitGroup
	for range 4 {
		threads.Go(func() {
			for range 20000 {
				region, err := c.Acquire(at(0, 1), 1)
				if !assert.NoError(t, err) {
					return
				}
				n.use(at(0, 1), 1, region)()
				region.Release()
			}
		})
	}
	beside.Go(func() {
		for !stop.Load() {
			r := Range{base + page - 8, base + 2*page} // begins on their page: grows over theirs
			region, err := c.Acquire(r, 1)
			if !assert.NoError(t, err) {
				return
			}
			n.use(r, 1, region)()
			region.Release()
			n.unmap(c, at(1, 1))
			n.remap(at(1, 1))
		}
	})
	threads.Wait()
	stop.Store(true)
	beside.Wait()
	n.closed(c)
}

// What a region grows over goes just then: whoever registers the larger one and whoever
// invalidates must not miss each other. The first thread's page was registered with the
// second's; it goes while the second thread needs one page more. A walk over many other
// regions makes the moment long enough to be hit.
func TestRegionGrowsWhileItsPagesGo(t *testing.T) {
	const others, rounds = 256, 250
	const first, second = 2 * others, 2*others + 1
	n := newNIC(t, second+2)
	c := newCache(t, n, Options{})
	use := func(r Range) {
		region, err := c.Acquire(r, 1)
		if assert.NoError(t, err) {
			n.use(r, 1, region)()
			region.Release()
		}
	}
	var begun, done atomic.Int64
	var threads sync.WaitGroup
	threads.Go(func() {
		for round := range int64(rounds) {
			for begun.Load() <= round {
				runtime.Gosched()
			}
			use(at(second, 2))
			done.Add(1)
		}
	})
	for round := range int64(rounds) {
		for i := range others {
			acquire(t, c, at(2*i, 1)).Release()
		}
		use(Range{at(first, 1).Start, at(second, 1).Start + 8})
		begun.Add(1)
		for range rand.IntN(4000) {
			begun.Load() // some time
		}
		c.Invalidate(Range{base, at(first, 1).End})
		n.count(at(first, 1))
		for done.Load() <= round {
			runtime.Gosched()
		}
		n.remap(at(first, 1))
		use(at(first, 1))
		c.Invalidate(at(first, 3)) // the next round begins anew
	}
	threads.Wait()
	n.closed(c)
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package regcache

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// ErrClosed is what Acquire returns after Close.
var ErrClosed = errors.New("registration cache is closed")

// Options bound what stays registered. Regions in use are never evicted, so that they
// may exceed both. 0 is the default.
type Options struct {
	Regions int64 // default 1024
	Bytes   int64 // default 1 GiB
}

// A Cache is the regions of one process. What all hits read comes first; no hit writes to it.
type Cache struct {
	index     atomic.Pointer[index]
	journal   *Journal
	heeded    atomic.Uint64 // events of the journal that are applied
	clock     atomic.Uint64 // counts misses
	dirty     atomic.Bool   // Invalidate made a region stale that sweep has not seen
	registrar Registrar
	_         [64]byte

	limit   Options
	misses  sync.Mutex // who holds it changes the index
	closed  bool
	kept    map[*Region][]*byte // of regions in the index: what their memory is part of
	regions atomic.Int64        // registered, stale ones with users too
	bytes   atomic.Int64

	reading sync.Mutex // who holds it reads the journal
	place   uint64     // all before it are read
	lost    uint64     // events lost that were noticed
}

// New makes an empty cache.
func New(registrar Registrar, limit Options) (*Cache, error) {
	if limit.Regions < 0 || limit.Bytes < 0 {
		return nil, fmt.Errorf("registration cache of %d regions and %d bytes: give positive numbers", limit.Regions, limit.Bytes)
	}
	if limit.Regions == 0 {
		limit.Regions = 1024
	}
	if limit.Bytes == 0 {
		limit.Bytes = 1 << 30
	}
	c := &Cache{journal: newJournal(), registrar: registrar, limit: limit, kept: map[*Region][]*byte{}}
	c.index.Store(&index{})
	return c, nil
}

// Acquire returns a region that covers r and allows access. The caller has to Release it.
func (c *Cache) Acquire(r Range, access Access) (*Region, error) {
	if told := c.journal.told.Load(); told != c.heeded.Load() {
		c.heed(told)
	}
	if region := c.hit(r, access); region != nil {
		return region, nil
	}
	return c.miss(r, access, nil)
}

// AcquireBytes is Acquire for memory that may be Go's, and has bytes. What it is part of is not freed for as long as the region
// may be hit: Go gives memory back to the kernel by itself, and tells no one. So up to Options.Bytes of what a program has
// dropped stay in use.
func (c *Cache) AcquireBytes(b []byte, access Access) (*Region, error) {
	r := RangeOf(b)
	if told := c.journal.told.Load(); told != c.heeded.Load() {
		c.heed(told)
	}
	if region := c.hit(r, access); region != nil {
		return region, nil
	}
	return c.miss(r, access, &b[0])
}

func (c *Cache) hit(r Range, access Access) *Region {
	x := *c.index.Load()
	i := x.after(r.Start)
	if i == len(x) || !x[i].covers(r) || !r.valid() {
		return nil
	}
	region := x[i].region
	if region.Access&access != access || !region.join() {
		return nil
	}
	return region
}

// Invalidate says that the memory of r is about to go or to be exchanged: call it before
// munmap, mremap, madvise(MADV_DONTNEED) or a shrinking brk. C tells the Journal instead.
// No Acquire that begins after it returned hits a region with a page in r. Unused regions
// are deregistered at the next miss or Release, not here: this may run inside an
// allocator or a Registrar.
func (c *Cache) Invalidate(r Range) {
	for {
		shown := c.index.Load()
		x := *shown
		for i := x.after(r.Start); i < len(x) && x[i].overlaps(r); i++ {
			if x[i].region.state.Or(stale)&stale == 0 {
				c.dirty.Store(true)
			}
		}
		// A miss may just have replaced regions by a larger one that shown lacks.
		if c.index.Load() == shown {
			return
		}
	}
}

// Registered tells how many regions are registered, and their bytes.
func (c *Cache) Registered() (regions, bytes int64) { return c.regions.Load(), c.bytes.Load() }

// Close deregisters all regions, those in use at their last Release; then the error says
// how many these are.
func (c *Cache) Close() error {
	c.misses.Lock()
	defer c.misses.Unlock()
	c.closed = true
	for _, e := range *c.index.Load() {
		e.region.state.Or(stale)
	}
	c.sweep()
	if n := c.regions.Load(); n > 0 {
		return fmt.Errorf("close registration cache: regions still in use: %d; release each before", n)
	}
	return nil
}

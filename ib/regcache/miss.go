// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package regcache

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
)

// miss registers the pages of r, together with all regions that they overlap. owner is nil, or leads to Go's memory
// that r is part of.
func (c *Cache) miss(r Range, access Access, owner *byte) (*Region, error) {
	if !r.valid() {
		return nil, fmt.Errorf("register %v: give a range that has bytes and ends below 2^63", r)
	}
	c.misses.Lock()
	defer c.misses.Unlock()
	if c.closed {
		return nil, ErrClosed
	}
	if region := c.hit(r, access); region != nil {
		return region, nil // another thread's miss brought it
	}
	if c.dirty.Load() {
		c.sweep()
	}
	c.clock.Add(1)
	alone := r.pages()
	wide, all := c.union(alone, access)
	region, err := c.register(wide, all, owner)
	if err != nil && (wide != alone || all != access) {
		// The neighbours may have other protection, or be gone by now.
		region, err = c.register(alone, access, owner)
	}
	if errors.Is(err, syscall.ENOMEM) && c.evict(alone.Len(), 1) {
		region, err = c.register(alone, access, owner)
	}
	if errors.Is(err, syscall.ENOMEM) {
		regions, bytes := c.Registered()
		return nil, fmt.Errorf("register %v (%d bytes) beside %d bytes in %d regions: %w: raise ulimit -l", alone, alone.Len(), bytes, regions, err)
	}
	if err != nil {
		return nil, fmt.Errorf("register %v (%d bytes): %w", alone, alone.Len(), err)
	}
	return region, nil
}

// union returns r with all regions that it overlaps, and what any of them allows; r
// alone, if they would not fit into the cache together.
func (c *Cache) union(r Range, access Access) (Range, Access) {
	wide, all := r, access
	for _, e := range c.index.Load().overlapping(r) {
		wide = Range{min(wide.Start, e.Start), max(wide.End, e.End)}
		all |= e.region.Access
	}
	if wide.Len() > c.limit.Bytes {
		return r, access
	}
	return wide, all
}

// register registers r in place of what it overlaps. The region is shown before it is
// registered, so that Invalidate finds it. One that Invalidate found is good for the
// caller, whose memory stays, and for nobody else. Preconditions: misses is held.
func (c *Cache) register(r Range, access Access, owner *byte) (*Region, error) {
	region := &Region{Range: r, Access: access, cache: c}
	region.state.Store(pending)
	before := *c.index.Load()
	after := before.with(region)
	c.index.Store(&after)
	if owner != nil {
		c.kept[region] = []*byte{owner}
	}
	for _, e := range before.overlapping(r) {
		if kept := c.kept[e.region]; kept != nil {
			c.kept[region] = append(c.kept[region], kept...)
			delete(c.kept, e.region)
		}
		if e.region.state.Or(stale)&stale != 0 {
			region.state.Or(stale) // Invalidate, which may have looked before region was shown
			c.dirty.Store(true)
		}
		e.region.reap()
	}
	c.evict(c.bytes.Load()+r.Len()-c.limit.Bytes, c.regions.Load()+1-c.limit.Regions)

	memory, err := c.registrar.Register(r, access)
	if err != nil {
		region.state.Or(stale | dead)
		c.sweep()
		return nil, err
	}
	region.Memory = memory
	c.bytes.Add(r.Len())
	c.regions.Add(1)
	region.state.Add(^(pending - 1) + 1) // pending off, a user on; stale stays as it is
	return region, nil
}

// evict deregisters the regions that have been without users for longest, until there
// are so many bytes and regions less, and tells if it found any. Preconditions: misses
// is held.
func (c *Cache) evict(bytes, regions int64) (found bool) {
	for bytes > 0 || regions > 0 {
		region := c.oldest()
		if region == nil {
			break
		}
		if region.state.CompareAndSwap(0, stale) {
			bytes, regions, found = bytes-region.Range.Len(), regions-1, true
		}
	}
	if found {
		c.sweep()
	}
	return found
}

// oldest returns the region that has been without users for longest, or nil. Most misses
// evict one region or none, so that one look after another is less work than to sort.
func (c *Cache) oldest() (oldest *Region) {
	var since uint64
	for _, e := range *c.index.Load() {
		used := e.region.used.Load()
		if e.region.state.Load() == 0 && (oldest == nil || used < since) {
			oldest, since = e.region, used
		}
	}
	return oldest
}

// sweep takes stale regions out of the index, and deregisters those without users.
// Preconditions: misses is held.
func (c *Cache) sweep() {
	c.dirty.Store(false) // before looking: what goes stale meanwhile sets it again
	before := *c.index.Load()
	out := func(e entry) bool { return e.region.state.Load()&stale != 0 }
	if !slices.ContainsFunc(before, out) {
		return
	}
	after := make(index, 0, len(before))
	for _, e := range before {
		if out(e) {
			delete(c.kept, e.region)
			e.region.reap()
		} else {
			after = append(after, e)
		}
	}
	c.index.Store(&after)
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package regcache

import (
	"errors"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newCache(t testing.TB, n *nic, limit Options) *Cache {
	c, err := New(n, limit)
	require.NoError(t, err)
	return c
}

func acquire(t testing.TB, c *Cache, r Range) *Region {
	region, err := c.Acquire(r, 1)
	require.NoError(t, err)
	return region
}

// Sends of one buffer, and of parts of it, register it once.
func TestOneRegistrationForManyUses(t *testing.T) {
	n := newNIC(t, 8)
	c := newCache(t, n, Options{})
	for i := range 1000 {
		r := Range{base + 100 + uint64(i), base + 3*page - 7}
		region := acquire(t, c, r)
		n.use(r, 1, region)()
		region.Release()
	}
	assert.EqualValues(t, 1, n.register.Load())
	assert.Equal(t, []string{at(0, 3).String() + " 1"}, n.registered())
	n.closed(c)
}

func TestHitAndInvalidateAllocateNothing(t *testing.T) {
	n := newNIC(t, 8)
	c := newCache(t, n, Options{})
	acquire(t, c, at(0, 2)).Release()
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		region, _ := c.Acquire(at(1, 1), 1)
		region.Release()
	}))
	acquired := acquire(t, c, at(0, 2))
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		c.Journal().tell(at(4, 4))
		region, _ := c.Acquire(at(1, 1), 1)
		region.Release()
	}))
	assert.Zero(t, testing.AllocsPerRun(100, func() { c.Invalidate(at(0, 8)) }))
	acquired.Release()
	n.closed(c)
}

// Invalidate works while its own thread is in the middle of a miss, and the region that
// is being registered then serves nobody else.
func TestInvalidateInsideRegister(t *testing.T) {
	n := newNIC(t, 8)
	c := newCache(t, n, Options{})
	n.inside = func(Range) { c.Invalidate(at(3, 1)) }
	first := acquire(t, c, at(2, 2))
	n.inside = nil
	second := acquire(t, c, at(2, 2))
	assert.NotEqual(t, first.Memory, second.Memory)
	first.Release()
	second.Release()
	n.closed(c)
}

// A region that is stale is not deregistered under its user, and is when the user leaves.
func TestStaleRegionLastsUntilItsLastRelease(t *testing.T) {
	n := newNIC(t, 8)
	c := newCache(t, n, Options{})
	region := acquire(t, c, at(0, 2))
	again := acquire(t, c, at(0, 2))
	c.Invalidate(at(1, 1))
	region.Release()
	assert.Len(t, n.registered(), 1)
	again.Release()
	assert.Empty(t, n.registered())

	acquire(t, c, at(0, 2)).Release()
	other := acquire(t, c, at(4, 1))
	c.Invalidate(at(0, 8))
	other.Release() // brings the unused one down with it
	assert.Empty(t, n.registered())
	n.closed(c)
}

// Ranges that share a page become one region; neighbours stay two, until one range needs both.
func TestOverlapsGrowTogether(t *testing.T) {
	n := newNIC(t, 16)
	c := newCache(t, n, Options{})
	for _, step := range []struct {
		r    Range
		want []string
	}{
		{at(0, 2), []string{at(0, 2).String() + " 1"}},
		{at(2, 2), []string{at(0, 2).String() + " 1", at(2, 2).String() + " 1"}},
		{Range{base + 2*page - 1, base + 2*page + 1}, []string{at(0, 4).String() + " 1"}},
		{at(3, 4), []string{at(0, 7).String() + " 1"}},
	} {
		acquire(t, c, step.r).Release()
		assert.ElementsMatch(t, step.want, n.registered())
	}
	// What only a wider access lacks is registered for both.
	region, err := c.Acquire(at(1, 1), 2)
	require.NoError(t, err)
	assert.Equal(t, at(0, 7), region.Range)
	assert.Equal(t, Access(3), region.Access)
	region.Release()
	// Where the neighbour cannot be had, the range is registered alone.
	n.refuse = func(r Range) error {
		if r.Start == base {
			return syscall.EACCES
		}
		return nil
	}
	region = acquire(t, c, at(6, 2))
	assert.Equal(t, at(6, 2), region.Range)
	region.Release()
	n.closed(c)
}

// Longest, as far as the clock tells, which counts misses.
func TestEvictsTheLongestUnused(t *testing.T) {
	for name, limit := range map[string]Options{"bytes": {Bytes: 8 * int64(page)}, "regions": {Regions: 4}} {
		t.Run(name, func(t *testing.T) {
			n := newNIC(t, 16)
			c := newCache(t, n, limit)
			used := acquire(t, c, at(0, 2))
			acquire(t, c, at(2, 2)).Release()
			acquire(t, c, at(4, 2)).Release()
			acquire(t, c, at(6, 2)).Release()
			acquire(t, c, at(2, 1)).Release() // again, later than 4
			acquire(t, c, at(8, 2)).Release()
			assert.ElementsMatch(t, []string{at(0, 2).String() + " 1", at(2, 2).String() + " 1", at(6, 2).String() + " 1", at(8, 2).String() + " 1"}, n.registered())
			used.Release()
			n.closed(c)
		})
	}
}

func TestLockedMemoryLimit(t *testing.T) {
	n := newNIC(t, 16)
	n.limit.Store(4)
	c := newCache(t, n, Options{})
	acquire(t, c, at(0, 2)).Release()
	used := acquire(t, c, at(2, 2))
	third := acquire(t, c, at(4, 2)) // in place of the first
	_, err := c.Acquire(at(6, 2), 1)
	require.ErrorIs(t, err, syscall.ENOMEM)
	assert.ErrorContains(t, err, at(6, 2).String())
	assert.ErrorContains(t, err, "ulimit -l")
	used.Release()
	third.Release()
	acquire(t, c, at(6, 2)).Release()
	n.closed(c)
}

func TestBadInput(t *testing.T) {
	n := newNIC(t, 4)
	c := newCache(t, n, Options{})
	acquire(t, c, at(0, 1)).Release()
	for _, r := range []Range{{}, {base + 1, base + 1}, {base + 1, base}, {1 << 62, 1<<64 - 1}} {
		_, err := c.Acquire(r, 1)
		assert.ErrorContains(t, err, "register "+r.String())
	}
	broken := errors.New("device is gone")
	n.refuse = func(Range) error { return broken }
	_, err := c.Acquire(at(2, 1), 1)
	assert.ErrorIs(t, err, broken)
	assert.ErrorContains(t, err, at(2, 1).String())
	n.refuse = nil

	region := acquire(t, c, at(1, 1))
	assert.ErrorContains(t, c.Close(), "in use: 1")
	_, err = c.Acquire(at(1, 1), 1)
	assert.ErrorIs(t, err, ErrClosed)
	region.Release()
	assert.Panics(t, region.Release)
	n.closed(c)
	_, err = New(n, Options{Bytes: -1})
	assert.ErrorContains(t, err, "positive")
}

// A region that goes stale after it was chosen to be part of a larger one makes that
// stale too: Invalidate may have looked before the larger one was there.
func TestInvalidateBeforeTheUnionIsShown(t *testing.T) {
	n := newNIC(t, 8)
	c := newCache(t, n, Options{})
	acquire(t, c, at(0, 2)).Release()
	c.misses.Lock()
	wide, access := c.union(at(1, 2), 1)
	require.Equal(t, at(0, 3), wide)
	c.Invalidate(at(0, 1))
	region, err := c.register(wide, access, nil)
	c.misses.Unlock()
	require.NoError(t, err)
	assert.Nil(t, c.hit(at(0, 1), 1))
	region.Release()
	n.closed(c)
}

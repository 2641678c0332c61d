// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package regcache

import (
	"runtime"
	"testing"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// anywhere is a Registrar of any memory.
type anywhere struct{}

func (anywhere) Register(Range, Access) (Memory, error) { return Memory{}, nil }
func (anywhere) Deregister(Memory)                      {}

// dropped makes memory of so many pages, has f acquire what it wants of it, and returns whether the memory is still there when
// nobody but the cache has it.
func dropped(t *testing.T, pages int, f func(b []byte) []*Region) (isThere func() bool, r Range) {
	t.Helper()
	b := make([]byte, pages*int(page))
	r = RangeOf(b)
	for _, region := range f(b) {
		region.Release()
	}
	there := weak.Make(&b[0])
	return func() bool {
		runtime.GC()
		return there.Value() != nil
	}, r
}

// Go's memory stays for as long as a registration of it may be hit, and no longer: whichever way that ends.
func TestKeepsGoMemory(t *testing.T) {
	acquire := func(c *Cache, b []byte) *Region {
		region, err := c.AcquireBytes(b, 1)
		require.NoError(t, err)
		return region
	}
	for name, end := range map[string]func(c *Cache, r Range){
		"evicted":     func(c *Cache, _ Range) { acquire(c, make([]byte, 16*page)).Release() },
		"invalidated": func(c *Cache, r Range) { c.Invalidate(r); acquire(c, make([]byte, 1)).Release() },
		"closed":      func(c *Cache, _ Range) { require.NoError(t, c.Close()) },
	} {
		t.Run(name, func(t *testing.T) {
			c, err := New(anywhere{}, Options{Bytes: 16 * int64(page)})
			require.NoError(t, err)
			isThere, r := dropped(t, 12, func(b []byte) []*Region {
				return []*Region{acquire(c, b[10:20]), acquire(c, b), acquire(c, b[10:20])}
			})
			require.Len(t, *c.index.Load(), 1)
			require.True(t, isThere())
			end(c, r)
			assert.False(t, isThere())
			runtime.KeepAlive(c)
		})
	}
	c, err := New(anywhere{}, Options{})
	require.NoError(t, err)
	isThere, _ := dropped(t, 12, func([]byte) []*Region { return nil })
	require.False(t, isThere(), "what was never acquired is not kept")
	runtime.KeepAlive(c)
}

// Two that share a page are one region, which keeps both.
func TestKeepsNeighbours(t *testing.T) {
	c, err := New(anywhere{}, Options{})
	require.NoError(t, err)
	left, right := neighbours(t, c)
	require.Len(t, *c.index.Load(), 1)
	runtime.GC()
	assert.NotNil(t, left.Value())
	assert.NotNil(t, right.Value())
	runtime.KeepAlive(c)
}

// neighbours acquires two objects that share a page, of which the second one needs more pages.
func neighbours(t *testing.T, c *Cache) (left, right weak.Pointer[byte]) {
	all := map[uint64][]byte{} // by address
	for range 1000 {
		b := make([]byte, 3072)
		all[RangeOf(b).Start] = b
	}
	for at, b := range all {
		next := all[at+3072]
		if next == nil || RangeOf(b).pages().End <= RangeOf(next).Start || RangeOf(b).pages().End >= RangeOf(next).End {
			continue
		}
		for _, b := range [][]byte{b, next} {
			region, err := c.AcquireBytes(b, 1)
			require.NoError(t, err)
			region.Release()
		}
		return weak.Make(&b[0]), weak.Make(&next[0])
	}
	t.Fatal("no two objects share a page")
	return left, right
}

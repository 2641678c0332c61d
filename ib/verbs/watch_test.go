// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package verbs

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/ib/regcache"
	"github.com/tpsl/tpsl/ib/verbs/loop"
)

const size = 16 << 10 // of the memory that is sent: pages, so that whole pages go

func rangeOf(at uint64, n int) regcache.Range { return regcache.Range{Start: at, End: at + uint64(n)} }

// A way is one by which memory goes, and comes back at the same address, which again returns. What malloc had may come back elsewhere: a
// thread of the runtime that begins takes addresses, too.
type way struct {
	name  string
	get   func() uint64
	lose  func(at uint64)
	again func(at uint64) uint64
}

func stays(at uint64) uint64 { return at }

var placed atomic.Uint64

// somewhere returns an address that no other mapping comes to while nothing is there: far
// below where the kernel and the Go runtime map.
func somewhere() uint64 { return 1<<36 + placed.Add(1)<<20 }

// large is more than malloc ever takes from its heaps, so that free gives it to the system.
const large = 40 << 20

func ways(t testing.TB) []way {
	again := func(at uint64) uint64 { return loop.Map(at, size) }
	unmap := func(at uint64) { loop.Unmap(at, size) }
	get := func() uint64 { return loop.Map(somewhere(), size) }
	var renewed uint64
	return []way{
		{"munmap", get, unmap, again},
		{"mmap over it", get, func(at uint64) { loop.Replace(at, size) }, stays},
		{"madvise", get, func(at uint64) { loop.Drop(at, size) }, stays},
		{"mremap", func() uint64 { return loop.Map(somewhere(), 2*size) }, func(at uint64) {
			to := loop.Move(at, size, 2*size) // cannot grow where it is
			require.NotEqual(t, at, to)
			loop.Unmap(to, 2*size)
		}, again},
		{"sbrk", func() uint64 { return loop.Grow(size) }, func(at uint64) {
			require.Equal(t, at+size, loop.Grow(0))
			loop.Grow(-size)
		}, func(at uint64) uint64 { require.Equal(t, at, loop.Grow(size)); return at }},
		{"free", func() uint64 { return loop.Alloc(large) }, func(at uint64) { renewed = loop.Renew(at, large) }, func(uint64) uint64 { return renewed }},
		{"shmdt", func() uint64 { return loop.Attach(somewhere(), size) }, loop.Detach,
			func(at uint64) uint64 { require.Equal(t, at, loop.Attach(at, size)); return at }},
	}
}

// A counter is a registrar that knows how often each page was mapped anew when it was
// registered, by what a test says.
type counter struct {
	registered atomic.Int64
	at         uint64 // of the first page
	pages      []atomic.Int64
	seen       sync.Map // Handle -> []int64
}

func (c *counter) Register(regcache.Range, regcache.Access) (regcache.Memory, error) {
	n := c.registered.Add(1)
	var seen []int64
	for i := range c.pages {
		seen = append(seen, c.pages[i].Load())
	}
	c.seen.Store(uintptr(n), seen)
	return regcache.Memory{Handle: uintptr(n)}, nil
}

func (c *counter) Deregister(m regcache.Memory) { c.seen.Delete(m.Handle) }

func watched(t testing.TB, registrar regcache.Registrar) *regcache.Cache {
	cache, err := regcache.New(registrar, regcache.Options{})
	require.NoError(t, err)
	stop, err := Watch(cache.Journal())
	require.NoError(t, err)
	t.Cleanup(stop)
	return cache
}

func use(t testing.TB, cache *regcache.Cache, r regcache.Range) {
	region, err := cache.Acquire(r, 0)
	require.NoError(t, err)
	region.Release()
}

// The hook hears of memory that goes, in each way, on whatever thread, and of no other.
func TestHookHears(t *testing.T) {
	for _, w := range ways(t) {
		t.Run(w.name, func(t *testing.T) {
			c := &counter{}
			cache := watched(t, c)
			other := loop.Map(0, size)
			at := w.get()
			use(t, cache, rangeOf(other, size))
			use(t, cache, rangeOf(at, size))
			use(t, cache, rangeOf(at, size))
			assert.EqualValues(t, 2, c.registered.Load())
			elsewhere(func() { w.lose(at) })
			at = w.again(at)
			use(t, cache, rangeOf(at, size))
			assert.EqualValues(t, 3, c.registered.Load())
			use(t, cache, rangeOf(other, size))
			assert.EqualValues(t, 3, c.registered.Load())
			loop.Unmap(other, size)
			assert.NoError(t, cache.Close())
		})
	}
}

// More memory goes than the journal holds, before anybody reads it.
func TestHookFillsTheJournal(t *testing.T) {
	c := &counter{}
	cache := watched(t, c)
	for range 3 {
		first, last := loop.Map(somewhere(), size), loop.Map(somewhere(), size)
		use(t, cache, rangeOf(first, size))
		use(t, cache, rangeOf(last, size))
		loop.Unmap(first, size)
		for range 1500 {
			loop.Unmap(loop.Map(0, size), size)
		}
		loop.Unmap(last, size)
		before := c.registered.Load()
		for range 2 {
			use(t, cache, rangeOf(first, size))
			use(t, cache, rangeOf(last, size))
		}
		assert.EqualValues(t, 2, c.registered.Load()-before)
	}
	assert.NoError(t, cache.Close())
}

// elsewhere calls f on another thread.
func elsewhere(f func()) {
	var done sync.WaitGroup
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	done.Go(f)
	done.Wait()
}

// A reader is a registrar that notes what is in memory, 32 bits.
type reader struct{}

func (reader) Register(r regcache.Range, _ regcache.Access) (regcache.Memory, error) {
	return regcache.Memory{Local: uint32(loop.Load(r.Start))}, nil
}

func (reader) Deregister(regcache.Memory) {}

// The hook hears before the memory goes: while one thread is in munmap, the kernel gives
// its addresses to others, which must find nothing registered there.
func TestHookHearsBefore(t *testing.T) {
	const threads, rounds = 4, 10000
	cache := watched(t, reader{})
	var stamp atomic.Uint64
	var all sync.WaitGroup
	for range threads {
		all.Go(func() {
			for range rounds {
				at, mine := loop.Map(0, size), stamp.Add(1)
				loop.Store(at, mine)
				region, err := cache.Acquire(rangeOf(at, size), 0)
				if !assert.NoError(t, err) || !assert.EqualValues(t, mine, region.Memory.Local, "stale") {
					return
				}
				region.Release()
				loop.Unmap(at, size)
			}
		})
	}
	all.Wait()
	assert.NoError(t, cache.Close())
}

// Threads exchange their pages while the Go heap grows and shrinks, which the hook hears
// too, on the runtime's own stacks: no region is of pages that have gone.
func TestThreadsUnderTheHook(t *testing.T) {
	const threads, pages, page, rounds = 4, 4, 4096, 5000
	c := &counter{at: loop.Map(0, threads*pages*page), pages: make([]atomic.Int64, threads*pages)}
	cache := watched(t, c)
	var all sync.WaitGroup
	for thread := range threads {
		all.Go(func() {
			random := rand.New(rand.NewPCG(uint64(thread), 3))
			var heap []byte
			for range rounds {
				first, n := random.IntN(pages), 1
				n += random.IntN(pages - first)
				first += thread * pages
				at := c.at + uint64(first)*page
				region, err := cache.Acquire(rangeOf(at+100, n*page-200), 0)
				if !assert.NoError(t, err) {
					return
				}
				seen, _ := c.seen.Load(region.Memory.Handle)
				for i := first; i < first+n; i++ {
					if !assert.Equal(t, c.pages[i].Load(), seen.([]int64)[i], "page %d of thread %d is stale", i, thread) {
						return
					}
				}
				region.Release()
				loop.Replace(at, n*page)
				for i := first; i < first+n; i++ {
					c.pages[i].Add(1)
				}
				if random.IntN(100) == 0 {
					heap = make([]byte, 1<<20)
				}
			}
			runtime.KeepAlive(heap)
		})
	}
	all.Wait()
	loop.Unmap(c.at, threads*pages*page)
	assert.NoError(t, cache.Close())
}

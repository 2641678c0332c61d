// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package regcache

import (
	"fmt"
	"sync"
	"testing"
)

// free is a Registrar that costs nothing, so that the cache's own costs are seen.
type free struct{ Registrar }

func (free) Register(Range, Access) (Memory, error) { return Memory{}, nil }
func (free) Deregister(Memory)                      {}

// filled returns a cache of so many regions of one page, a page apart.
func filled(b *testing.B, regions int) *Cache {
	c, err := New(free{}, Options{Regions: int64(regions)})
	if err != nil {
		b.Fatal(err)
	}
	for i := range regions {
		acquire(b, c, at(2*i, 1)).Release()
	}
	b.ReportAllocs()
	b.ResetTimer()
	return c
}

var sizes = []int{1, 32, 1024}

// BenchmarkHit acquires and releases a registered range: threads with one region for
// all, or one each.
func BenchmarkHit(b *testing.B) {
	for _, regions := range sizes {
		for _, threads := range []int{1, 2, 4, 8} {
			for _, own := range []bool{false, true} {
				if own && (threads == 1 || regions < threads) {
					continue
				}
				b.Run(fmt.Sprintf("regions=%d/threads=%d/own=%t", regions, threads, own), func(b *testing.B) {
					c := filled(b, regions)
					var all sync.WaitGroup
					for thread := range threads {
						i := regions / 2
						if own {
							i = thread
						}
						all.Go(func() {
							for range b.N / threads {
								region, _ := c.Acquire(at(2*i, 1), 1)
								region.Release()
							}
						})
					}
					all.Wait()
				})
			}
		}
	}
}

// BenchmarkMiss registers a page that is not there: in place of one that was invalidated,
// or of the one that is evicted.
func BenchmarkMiss(b *testing.B) {
	for _, regions := range sizes {
		b.Run(fmt.Sprintf("regions=%d/after=invalidate", regions), func(b *testing.B) {
			c := filled(b, regions)
			for b.Loop() {
				c.Invalidate(at(0, 1))
				region, _ := c.Acquire(at(0, 1), 1)
				region.Release()
			}
		})
		b.Run(fmt.Sprintf("regions=%d/after=evict", regions), func(b *testing.B) {
			c := filled(b, regions)
			for i := regions; b.Loop(); i++ {
				region, _ := c.Acquire(at(2*(i%(4*regions)), 1), 1)
				region.Release()
			}
		})
	}
}

// BenchmarkHeed acquires a registered range after the journal was told of other memory, as most that is freed.
func BenchmarkHeed(b *testing.B) {
	for _, regions := range sizes {
		b.Run(fmt.Sprintf("regions=%d", regions), func(b *testing.B) {
			c := filled(b, regions)
			for b.Loop() {
				c.journal.tell(at(1, 1))
				region, _ := c.Acquire(at(0, 1), 1)
				region.Release()
			}
		})
	}
}

// BenchmarkInvalidate tells of memory that is not registered, as most that is freed, and
// of some that is.
func BenchmarkInvalidate(b *testing.B) {
	for _, regions := range sizes {
		for name, r := range map[string]Range{"none": at(1, 1), "one": at(0, 1)} {
			b.Run(fmt.Sprintf("regions=%d/hits=%s", regions, name), func(b *testing.B) {
				c := filled(b, regions)
				for b.Loop() {
					c.Invalidate(r)
				}
			})
		}
	}
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package verbs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/ib/regcache"
	"github.com/tpsl/tpsl/ib/verbs/loop"
)

// BenchmarkAcquire acquires and releases memory that is registered, that the hook told of
// since, and that the cache has no room for; register is ibv_reg_mr and ibv_dereg_mr
// without a cache.
func BenchmarkAcquire(b *testing.B) {
	b.Run("register", func(b *testing.B) {
		d, _ := opened(b)
		at := loop.Map(0, size)
		for b.Loop() {
			memory, err := d.Register(rangeOf(at, size), LocalWrite)
			require.NoError(b, err)
			d.Deregister(memory)
		}
		loop.Unmap(at, size)
	})
	for name, again := range map[string]func(c *regcache.Cache, at uint64){
		"hit":        func(*regcache.Cache, uint64) {},
		"invalidate": func(c *regcache.Cache, at uint64) { c.Invalidate(rangeOf(at, size)) },
		"madvise":    func(_ *regcache.Cache, at uint64) { loop.Drop(at, size) },
	} {
		b.Run(name, func(b *testing.B) {
			_, cache := opened(b)
			stop, err := Watch(cache.Journal())
			require.NoError(b, err)
			defer stop()
			at := loop.Map(0, size)
			use(b, cache, rangeOf(at, size))
			for b.Loop() {
				again(cache, at)
				use(b, cache, rangeOf(at, size))
			}
			loop.Unmap(at, size)
		})
	}
}

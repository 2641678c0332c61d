// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package regcache

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A model is the cache as a list, for one thread.
type model struct {
	limit   Options
	locked  int64 // bytes that may be registered
	regions []*modelRegion
	clock   int
	journal []Range
}

type modelRegion struct {
	Range
	access Access
	users  int
	used   int
	stale  bool
}

func (m *model) acquire(r Range, access Access) *modelRegion {
	if len(m.journal) > cells {
		m.invalidate(Range{0, math.MaxInt64})
	}
	for _, gone := range m.journal {
		m.invalidate(gone)
	}
	m.journal = nil
	for _, have := range m.regions {
		if !have.stale && have.covers(r) && have.access&access == access {
			have.users++
			return have
		}
	}
	m.clock++
	m.drop()
	alone := &modelRegion{Range: r.pages(), access: access}
	wide := &modelRegion{Range: alone.Range, access: access}
	for _, have := range m.regions {
		if !have.stale && have.overlaps(alone.Range) {
			wide.Start, wide.End, wide.access = min(wide.Start, have.Start), max(wide.End, have.End), wide.access|have.access
		}
	}
	tries := []*modelRegion{wide}
	if wide.Len() > m.limit.Bytes {
		tries = []*modelRegion{alone}
	} else if *wide != *alone {
		tries = append(tries, alone)
	}
	for _, try := range tries {
		for _, have := range m.regions {
			have.stale = have.stale || have.overlaps(try.Range)
		}
		m.drop()
		m.evict(m.bytes()+try.Len()-m.limit.Bytes, int64(len(m.regions))+1-m.limit.Regions)
		if m.add(try) {
			return try
		}
	}
	if m.evict(alone.Len(), 1) && m.add(alone) {
		return alone
	}
	return nil
}

func (m *model) add(r *modelRegion) bool {
	if m.bytes()+r.Len() > m.locked {
		return false
	}
	r.users = 1
	m.regions = append(m.regions, r)
	return true
}

func (m *model) bytes() (sum int64) {
	for _, r := range m.regions {
		sum += r.Len()
	}
	return sum
}

func (m *model) drop() {
	m.regions = slices.DeleteFunc(m.regions, func(r *modelRegion) bool { return r.stale && r.users == 0 })
}

// evict drops unused regions, one by one.
func (m *model) evict(bytes, regions int64) (found bool) {
	for bytes > 0 || regions > 0 {
		var oldest *modelRegion
		for _, r := range m.regions {
			if r.users == 0 && !r.stale && (oldest == nil || r.used < oldest.used || r.used == oldest.used && r.Start < oldest.Start) {
				oldest = r
			}
		}
		if oldest == nil {
			break
		}
		oldest.stale, found = true, true
		bytes, regions = bytes-oldest.Len(), regions-1
		m.drop()
	}
	return found
}

func (m *model) release(r *modelRegion) {
	r.users--
	r.used = m.clock
	m.drop()
}

func (m *model) invalidate(r Range) {
	for _, have := range m.regions {
		have.stale = have.stale || have.overlaps(r)
	}
}

const fuzzPages = 16

// play has a cache and the model do what script says, four bytes a step, and compares
// what each step leaves registered.
func play(t testing.TB, script []byte) {
	n := newNIC(t, fuzzPages)
	n.limit.Store(10)
	limit := Options{Regions: 4, Bytes: 8 * int64(page)}
	c := newCache(t, n, limit)
	m := &model{limit: limit, locked: n.limit.Load() * int64(page)}
	type user struct {
		region *Region
		model  *modelRegion
		done   func()
	}
	var in []user
	leave := func(i int) {
		in[i].done()
		in[i].region.Release()
		m.release(in[i].model)
		in = slices.Delete(in, i, i+1)
	}
	for ; len(script) >= 4; script = script[4:] {
		first, pages := int(script[1])%fuzzPages, int(script[2])%5+1
		r := at(first, min(pages, fuzzPages-first))
		step := "release"
		switch op := script[0] % 8; {
		case op < 4:
			part := Range{r.Start + uint64(script[3]), r.End - uint64(script[3]/2)}
			access := Access(op%3 + 1)
			step = fmt.Sprint("acquire ", part, access)
			region, err := c.Acquire(part, access)
			want := m.acquire(part, access)
			require.Equal(t, want == nil, err != nil, "%s: %v", step, err)
			if err != nil {
				require.ErrorIs(t, err, syscall.ENOMEM)
				break
			}
			require.Equal(t, want.Range, region.Range, step)
			require.Equal(t, want.access, region.Access, step)
			in = append(in, user{region, want, n.use(part, access, region)})
		case op < 7 && len(in) > 0:
			leave(int(script[3]) % len(in))
		case op == 7:
			step = fmt.Sprint("invalidate ", r)
			n.journal = script[3]%2 == 1
			n.unmap(c, r)
			n.remap(r)
			if !n.journal {
				m.invalidate(r)
				break
			}
			for range int(script[3]) * 4 { // two of the larger ones fill it
				c.journal.tell(r)
				m.journal = append(m.journal, r)
			}
			m.journal = append(m.journal, r)
		}
		want := []string{}
		for _, have := range m.regions {
			want = append(want, fmt.Sprint(have.Range, " ", have.access))
		}
		require.ElementsMatch(t, want, n.registered(), step)
	}
	for len(in) > 0 {
		leave(0)
	}
	n.closed(c)
}

func TestCacheDoesAsTheModel(t *testing.T) {
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 9))
		script := make([]byte, 4*200)
		for i := range script {
			script[i] = byte(random.Uint32())
		}
		play(t, script)
		if t.Failed() {
			t.Fatalf("with seed %d", seed)
		}
	}
}

func FuzzCacheDoesAsTheModel(f *testing.F) {
	f.Add([]byte{0, 0, 2, 0, 7, 1, 0, 0, 0, 0, 2, 9, 5, 0, 0, 0})
	f.Fuzz(func(t *testing.T, script []byte) { play(t, script[:min(len(script), 4*500)]) })
}

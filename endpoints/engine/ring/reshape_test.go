// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// An elastic ring counts how often its capacity was halved.
type elastic struct {
	*Ring
	halved   atomic.Int64
	released func(from, to int) // if not nil, called first
}

func newElastic(least, most int) *elastic {
	cells := make([]Cell, HeaderSize/CellSize+most)
	p, c := header(cells)
	e := &elastic{}
	e.Ring = place(p, c, cells[HeaderSize/CellSize:], least, func(from, to int) {
		if e.released != nil {
			e.released(from, to)
		}
		for i := from; i < to; i++ { // one by one: a producer may look at turns
			e.cells[i].turn.Store(0)
		}
		e.halved.Add(1)
	})
	return e
}

// force has the capacity change wherever it may, up or down as a number below 2 says.
func (e *elastic) force(draw func(int) int) {
	e.policy = func(uint64, uint64, uint64) change { return doubles + change(draw(2)) }
}

func (e *elastic) now() int { return int(e.capacity(e.p.tail.Load())) }

// Bursts that do not fit make the ring larger until they do, and it becomes small again when they end.
func TestCapacityFollowsTheTraffic(t *testing.T) {
	e := newElastic(4, 64)
	in, out := uint64(0), uint64(0)
	burst := func(count int) (refused int) {
		for end := in + uint64(count); in < end; {
			if put(e.Ring, 0, in) {
				in++
				continue
			}
			refused++
			_, n, ok := take(e.Ring)
			require.True(t, ok)
			require.Equal(t, out, n)
			out++
		}
		for ; out < in; out++ {
			_, n, ok := take(e.Ring)
			require.True(t, ok)
			require.Equal(t, out, n)
		}
		return refused
	}
	assert.Positive(t, burst(20))
	for range 20 {
		burst(20)
	}
	assert.Zero(t, burst(20), "refused at a capacity of %d", e.now())
	assert.Equal(t, 32, e.now())
	for range 1000 {
		burst(1)
	}
	assert.Equal(t, 4, e.now())
	assert.EqualValues(t, 3, e.halved.Load())
	for range 100 {
		burst(200)
	}
	assert.Equal(t, 64, e.now(), "at most")
}

// A halving that has to be taken back soon makes the ring wait longer before it tries again, and one that lasts makes it forget that.
func TestPatienceGrows(t *testing.T) {
	e := newElastic(2, 4)
	pass := func() {
		put(e.Ring, 0, 0)
		take(e.Ring)
	}
	toHalf := func() (laps int) {
		e.p.refused.Store(true)
		for e.now() == 2 {
			pass()
		}
		n := 0
		for ; e.now() == 4; n++ {
			pass()
		}
		return n / 4
	}
	assert.IsIncreasing(t, []int{toHalf(), toHalf(), toHalf()})
	assert.Equal(t, firstPatience+mostPatience-1, toHalf(), "the first lap is not whole")
	for range 2 * firstPatience {
		pass()
	}
	assert.Equal(t, firstPatience-1, toHalf())
}

// Whatever changes when, each message comes once, in order, and no cell is released that a producer has claimed and the consumer has not read.
func TestReshapesLoseNothing(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	type claim struct {
		cell  *Cell
		turn  uint32
		value int
	}
	for range 20 {
		e := newElastic(2<<random.IntN(3), 32)
		e.force(random.IntN)
		var late []claim // in the order of the claims
		live := map[*Cell]bool{}
		in, out := 0, 0
		claimOne := func() bool {
			c, turn := e.Claim()
			if c != nil {
				require.False(t, live[c], "claimed twice")
				live[c] = true
				late = append(late, claim{c, turn, in})
				in++
			}
			return c != nil
		}
		e.released = func(from, to int) {
			for random.IntN(4) != 0 && claimOne() {
			}
			for i := from; i < to; i++ {
				require.False(t, live[&e.cells[i]], "cell %d is released", i)
			}
		}
		for range 100_000 {
			switch random.IntN(7) {
			case 0, 1, 2:
				claimOne()
			case 3, 4: // publish any
				if len(late) > 0 {
					i := random.IntN(len(late))
					c := late[i]
					c.cell.Length = uint32(c.value)
					c.cell.Publish(c.turn)
					late = slices.Delete(late, i, i+1)
				}
			case 5, 6:
				if c := e.Front(); c != nil {
					require.EqualValues(t, out, c.Length)
					out++
					delete(live, c)
					e.Pop()
				}
			}
		}
		require.Greater(t, e.halved.Load(), int64(100))
		require.LessOrEqual(t, in-out, 32)
		require.Len(t, live, in-out)
	}
}

// A thousand changes, both ways, while four threads send.
func TestReshapesUnderLoad(t *testing.T) {
	const producers, count = 4, 100_000
	e := newElastic(4, 64)
	e.force(rand.IntN)
	flood(t, e.Ring, e.Ring, producers, count)
	changes := 2 * e.halved.Load() // one that was halved had been doubled
	t.Logf("%d changes", changes)
	assert.GreaterOrEqual(t, changes, int64(1000))
}

// The same in memory that two mappings share, where cells that are left go back to the kernel.
func TestReshapesOfSharedMemory(t *testing.T) {
	page := os.Getpagesize() / CellSize
	halved := 0
	in, out := shared(t, page, 16*page, func(cells []byte) {
		halved++
		assert.NoError(t, unix.Madvise(cells, unix.MADV_REMOVE))
	})
	in.policy = func(uint64, uint64, uint64) change { return doubles + change(rand.IntN(2)) }
	flood(t, in, out, 3, 400_000)
	t.Logf("%d changes", 2*halved)
	assert.GreaterOrEqual(t, halved, 500)
}

// Another process may write anything into a ring that is in shared memory. A change that makes no sense changes nothing, and a
// capacity that makes no sense is as the largest.
func TestForgedChanges(t *testing.T) {
	for name, c := range map[string]struct {
		capacity uint64
		at       uint64
		behind   change
	}{
		"within a lap":       {4, 0, doubles},
		"half of the least":  {4, 3, halves},
		"twice of the most":  {8, 7, doubles},
		"half within a lap":  {8, 3, halves},
		"at an odd lap only": {4, 7, doubles},
	} {
		t.Run(name, func(t *testing.T) {
			e := newElastic(4, 8)
			e.mask, e.next = c.capacity-1, c.at
			e.cells[c.at&e.mask].turn.Store(uint32(c.at)<<changeBits | c.behind)
			require.NotNil(t, e.Front())
			e.Pop()
			assert.Equal(t, c.capacity-1, e.mask)
			e.publish()
			assert.Equal(t, c.capacity-1, e.mask)
			assert.Equal(t, c.at+1, e.c.head.Load())
		})
	}
	e := newElastic(4, 8)
	e.p.tail.Store(math.MaxUint64)
	e.c.head.Store(math.MaxUint64)
	for range 100 {
		e.Claim()
	}
}

// A cell is ready when its turn is that of the front, whatever change is behind it, and not before.
func TestFrontIsOfItsTurn(t *testing.T) {
	for at := range uint64(9) {
		e := newElastic(4, 4)
		e.next = at
		turn := &e.cells[at&e.mask].turn
		assert.Nil(t, e.Front(), "zeros, at %d", at)
		for of := range uint32(9) {
			for _, behind := range []change{stays, doubles, halves} {
				turn.Store(of<<changeBits | behind)
				assert.Equal(t, of == uint32(at), e.Front() != nil, "a cell of %d at %d", of, at)
			}
		}
	}
}

// replay sends bursts, after each of which the consumer takes all, and returns which part of the messages found no room, and the capacity on average over
// the bursts. A message without room goes another way.
func replay(e *elastic, bursts []int) (missed, cells float64) {
	sent := 0
	for _, burst := range bursts {
		for range burst {
			if !put(e.Ring, 0, 0) {
				missed++
			}
			sent++
		}
		for e.Front() != nil {
			e.Pop()
		}
		cells += float64(e.now())
	}
	return missed / float64(sent), cells / float64(len(bursts))
}

// The thesis's curve: the more cells a channel has, the fewer messages miss it. A capacity that follows the traffic misses nearly as few as the best one that
// stays, with less memory. The trace has bursts of up to 8, 64 and 700 messages, as a process computes for a short or a long time between two looks.
func TestMissCurve(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var bursts []int
	for _, most := range []int{8, 700, 64, 8} {
		for range 4000 {
			bursts = append(bursts, 1+random.IntN(most))
		}
	}
	last := 1.0
	for _, cells := range []int{8, 64, 256, 512, 1024} {
		missed, _ := replay(newElastic(cells, cells), bursts)
		t.Logf("%4d cells: %.4f missed", cells, missed)
		assert.Less(t, missed, last)
		last = missed
	}
	missed, cells := replay(newElastic(8, 1024), bursts)
	t.Logf("%4.0f cells on average: %.4f missed", cells, missed)
	assert.LessOrEqual(t, missed, last+0.1)
	assert.LessOrEqual(t, cells, 0.6*1024)
}

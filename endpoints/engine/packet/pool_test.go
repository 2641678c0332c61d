// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package packet

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newPool(t testing.TB, workers, packets int) *Pool {
	p, err := New(Options{Workers: workers, Packets: packets, Size: 100})
	require.NoError(t, err)
	return p
}

// take takes n shared packets.
func take(t testing.TB, p *Pool, n int) (packets []uint32) {
	for range n {
		i := p.GetShared()
		require.NotEqual(t, None, i)
		packets = append(packets, i)
	}
	return packets
}

func TestRefusesWhatCannotBe(t *testing.T) {
	for _, o := range []Options{{}, {Workers: -1, Packets: 1, Size: 1}, {Packets: 1}, {Packets: 1 << 31, Size: 1}, {Packets: 1 << 20, Size: 1 << 60}} {
		_, err := New(o)
		assert.ErrorContains(t, err, "positive")
	}
}

func TestWorkerGetsThePacketItPutLast(t *testing.T) {
	p := newPool(t, 2, 10)
	a, b := p.Get(0), p.Get(0)
	p.Put(0, a)
	p.Put(0, b)
	p.PutShared(take(t, p, 1)[0])
	assert.Equal(t, b, p.Get(0))
	assert.Equal(t, a, p.Get(0))
}

func TestFullDequeSharesTheColdest(t *testing.T) {
	p := newPool(t, 1, depth+2)
	all := take(t, p, depth+2)
	for _, i := range all {
		p.Put(0, i)
	}
	assert.Equal(t, all[1], p.GetShared())
	assert.Equal(t, all[0], p.GetShared())
	for _, want := range slices.Backward(all[2:]) {
		assert.Equal(t, want, p.Get(0))
	}
}

func TestStealsOnlyWhenSharedIsEmptyAndAtTheBottom(t *testing.T) {
	p := newPool(t, 3, 4)
	all := take(t, p, 4)
	p.Put(1, all[0])
	p.Put(1, all[1])
	p.PutShared(all[2])
	p.PutShared(all[3])
	for _, want := range []uint32{all[3], all[2], all[0], all[1], None} {
		assert.Equal(t, want, p.GetShared())
	}
	p.Put(1, all[0])
	assert.Equal(t, all[0], p.Get(2), "a worker takes from another's pool rather than nothing")
}

// The private pools do not grow without bound: workers share them.
func TestManyWorkersSharePools(t *testing.T) {
	p := newPool(t, 1000, 4)
	assert.Len(t, p.private, maxPrivate)
	i := p.Get(3)
	p.Put(3, i)
	assert.Equal(t, i, p.Get(3+5*maxPrivate))
}

// The victim of a theft is not always the same.
func TestStealsFromAll(t *testing.T) {
	p := newPool(t, 4, 8)
	all := take(t, p, 8)
	for k, i := range all {
		p.Put(k%4, i)
	}
	first := map[int]bool{}
	for range 64 {
		i := p.GetShared()
		first[slices.Index(all, i)%4] = true
		p.Put(slices.Index(all, i)%4, i)
	}
	assert.Len(t, first, 4)
}

// A pop that read the stack before others popped two packets and pushed the first
// back must not succeed: the packet below is out.
func TestStackKnowsThatItChanged(t *testing.T) {
	p := newPool(t, 0, 3)
	word := p.shared.Load()
	below := p.next[top(word)].Load()
	a, b := p.GetShared(), p.GetShared()
	p.PutShared(a)
	require.Equal(t, top(word), top(p.shared.Load()))
	require.Equal(t, b, below)
	assert.Equal(t, word>>32+3, p.shared.Load()>>32, "each change counts")
}

// A model of the pool: what it may answer.
type model struct {
	shared  []uint32
	private [][]uint32
}

func (m *model) get(t *testing.T, worker int, got uint32) {
	if worker >= 0 {
		if d := &m.private[worker]; len(*d) > 0 {
			require.Equal(t, (*d)[len(*d)-1], got)
			*d = (*d)[:len(*d)-1]
			return
		}
	}
	if n := len(m.shared); n > 0 {
		require.Equal(t, m.shared[n-1], got)
		m.shared = m.shared[:n-1]
		return
	}
	for w, d := range m.private {
		if len(d) > 0 && d[0] == got {
			m.private[w] = d[1:]
			return
		}
	}
	require.Equal(t, None, got, "neither the shared pool nor the bottom of a private one")
	require.Empty(t, slices.Concat(m.private...))
}

func (m *model) put(worker int, i uint32) {
	if worker < 0 {
		m.shared = append(m.shared, i)
		return
	}
	d := &m.private[worker]
	if len(*d) == depth {
		m.shared = append(m.shared, (*d)[0])
		*d = (*d)[1:]
	}
	*d = append(*d, i)
}

func TestPoolDoesAsTheModel(t *testing.T) {
	const workers, packets = 3, 2*depth + 10
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	p := newPool(t, workers, packets)
	m := &model{private: make([][]uint32, workers)}
	for i := uint32(packets); i > 0; i-- {
		m.shared = append(m.shared, i)
	}
	var held []uint32
	nones := 0
	for step := range 100000 {
		worker := r.IntN(workers+1) - 1
		if rising := step / 500 % 2; r.IntN(10) < 3+4*rising { // pools run empty, and full
			i := p.GetShared
			if worker >= 0 {
				i = func() uint32 { return p.Get(worker) }
			}
			got := i()
			m.get(t, worker, got)
			if got != None {
				held = append(held, got)
			} else {
				nones++
			}
			continue
		}
		if len(held) == 0 {
			continue
		}
		k := r.IntN(len(held))
		i := held[k]
		held = slices.Delete(held, k, k+1)
		if worker < 0 {
			p.PutShared(i)
		} else {
			p.Put(worker, i)
		}
		m.put(worker, i)
	}
	assert.NotZero(t, nones, "the pool never ran empty")
}

func TestNothingAllocates(t *testing.T) {
	p := newPool(t, 2, 4)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		a, b := p.Get(0), p.GetShared()
		p.Put(1, a)
		p.PutShared(b)
		p.PutShared(p.Get(0))
	}))
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sameHome returns n envelopes whose home is one bucket.
func sameHome(t *Table, n int) (all []Envelope) {
	s := t.space.Load()
	for tag := int32(0); len(all) < n; tag++ {
		if e := (Envelope{Context: 1, Peer: 2, Tag: tag}); s.home(e) == &s.buckets[3] {
			all = append(all, e)
		}
	}
	return all
}

// spares counts the buckets that are not in use for overflow.
func spares(s *space) (n int) {
	for i := uint32(s.spare.Load()); i != 0; i = s.buckets[i].link.Load() {
		n++
	}
	return n
}

// A bucket overflows until the arena is empty, and what empties goes back, from any place of the chain. When a
// node finds no room the table grows, with all that is in it.
func TestOverflow(t *testing.T) {
	nodes := &Nodes{}
	table := NewTable(nodes, 20)
	s := table.space.Load()
	arena := spares(s)
	require.Equal(t, 5, arena)
	room := 3 * (1 + arena)
	keys := sameHome(table, room+1)
	var in []uint32
	for _, e := range keys[:room] {
		in = append(in, add(nodes, e, 0))
		require.Equal(t, None, table.Post(in[len(in)-1]))
	}
	assert.Zero(t, spares(s))
	assert.Equal(t, uint64(2*arena), s.spare.Load()>>32, "each change of the stack counts")
	assert.Same(t, s, table.space.Load())
	for k, order := 0, rand.Perm(room); k < room; k++ {
		m := add(nodes, keys[order[k]], 1)
		require.Equal(t, in[order[k]], table.Arrive(m))
	}
	assert.Equal(t, arena, spares(s))
	for _, e := range keys[:room] {
		require.Equal(t, None, table.Arrive(add(nodes, e, 1)))
	}
	assert.Same(t, s, table.space.Load())
	last := add(nodes, keys[room], 1)
	require.Equal(t, None, table.Arrive(last))
	assert.NotSame(t, s, table.space.Load())
	assert.Equal(t, last, table.Post(add(nodes, keys[room], 0)))
	for _, e := range keys[:room] {
		require.NotEqual(t, None, table.Post(add(nodes, e, 0)))
	}
}

// Many nodes come and go in one bucket, also while it grows.
func TestOneBucketDoesAsTheModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	nodes := &Nodes{}
	m := New(HashTable, nodes, 20)
	keys := sameHome(m.table, 30)
	model := &naive{nodes: nodes}
	for step := range 10000 {
		i := add(nodes, keys[r.IntN(len(keys))], uint64(step))
		switch r.IntN(8) {
		case 0:
			if j := uint32(1 + r.IntN(int(nodes.length)-1)); j != i {
				require.Equal(t, model.Cancel(j), m.Cancel(j))
			}
		case 1, 2, 3:
			require.Equal(t, model.Post(i), m.Post(i))
		default:
			require.Equal(t, model.Arrive(i), m.Arrive(i))
		}
		if step%100 == 99 {
			for _, j := range append(model.receives, model.messages...) {
				require.True(t, m.Cancel(j))
			}
			*model = naive{nodes: nodes}
		}
	}
}

// pairs posts and brings n pairs under an envelope.
func pairs(t *testing.T, table *Table, r, m uint32, n int) {
	for range n {
		require.Equal(t, None, table.Post(r))
		require.Equal(t, r, table.Arrive(m))
	}
}

func TestTableIsPlainAgain(t *testing.T) {
	nodes := &Nodes{}
	table := NewTable(nodes, 20)
	r, m := add(nodes, Envelope{Tag: 1}, 0), add(nodes, Envelope{Tag: 1}, 1)
	wild, other := add(nodes, Envelope{Tag: AnyTag, Peer: 9}, 0), add(nodes, Envelope{Tag: 5, Peer: 9}, 2)
	steps := len(table.space.Load().buckets) + 3

	assert.Zero(t, table.ordered.Load())
	require.Equal(t, None, table.Post(wild))
	pairs(t, table, r, m, steps)
	assert.NotZero(t, table.ordered.Load(), "while a wildcard is pending")
	require.Equal(t, wild, table.Arrive(other))
	pairs(t, table, r, m, steps)
	assert.Zero(t, table.ordered.Load(), "long after it")

	require.Equal(t, None, table.Arrive(other))
	require.Equal(t, other, table.Post(wild))
	pairs(t, table, r, m, steps/2-2)
	found, _ := table.Probe(Envelope{Tag: AnyTag}, nil)
	require.Equal(t, None, found)
	pairs(t, table, r, m, steps/2-2)
	assert.NotZero(t, table.ordered.Load(), "soon after it")
}

// A table grows with all that waits in it, in order, wildcards too.
func TestGrow(t *testing.T) {
	nodes := &Nodes{}
	m := New(HashTable, nodes, 0)
	wild := add(nodes, Envelope{Context: 7, Peer: AnySource, Tag: AnyTag}, 0)
	require.Equal(t, None, m.Post(wild))
	before := len(m.table.space.Load().buckets)
	const n = 1000
	var first, second [n]uint32
	for k := range n {
		e := Envelope{Peer: int32(k % 10), Tag: int32(k / 10)}
		first[k], second[k] = add(nodes, e, uint64(2*k)), add(nodes, e, uint64(2*k+1))
		require.Equal(t, None, m.Arrive(first[k]))
		require.Equal(t, None, m.Arrive(second[k]))
	}
	assert.Greater(t, len(m.table.space.Load().buckets), 100*before)
	assert.Less(t, len(m.table.space.Load().buckets), 8*n)
	for k := range n {
		e := nodes.At(first[k]).Envelope
		found, _ := m.Probe(e, nil)
		require.Equal(t, first[k], found)
		require.Equal(t, first[k], m.Post(add(nodes, e, 0)))
		require.Equal(t, second[k], m.Post(add(nodes, Envelope{Peer: e.Peer, Tag: AnyTag}, 0)))
	}
	assert.Equal(t, wild, m.Arrive(add(nodes, Envelope{Context: 7, Peer: 1}, 0)))
}

// For each envelope one thread brings messages and one posts receives: the k-th goes to
// the k-th, whichever of the two comes first.
func TestManyThreadsAtOnce(t *testing.T) {
	const keys, each = 4, 20000
	nodes := &Nodes{}
	table := NewTable(nodes, 1)
	var group sync.WaitGroup
	var matched [2][keys]int
	for g := range keys {
		var in [2][]uint32 // messages, receives
		for k := range each {
			in[0] = append(in[0], add(nodes, Envelope{Tag: int32(g)}, uint64(k)))
			in[1] = append(in[1], add(nodes, Envelope{Tag: int32(g)}, 0))
		}
		for side, op := range []func(uint32) uint32{table.Arrive, table.Post} {
			group.Go(func() {
				for k, i := range in[side] {
					if k%8 == 0 {
						runtime.Gosched()
					}
					if p := op(i); p != None {
						matched[side][g]++
						if p != in[1-side][k] {
							t.Errorf("%d got %d instead of %d", i, p, in[1-side][k])
							return
						}
					}
				}
			})
		}
	}
	group.Wait()
	for g := range keys {
		assert.Equal(t, each, matched[0][g]+matched[1][g])
	}
	t.Logf("matched on arrival %v, on posting %v", matched[0], matched[1])
}

// A search looks at about one line, however many nodes wait, and whatever a program
// counts its peers and tags by.
func TestSearchesLookAtOneLine(t *testing.T) {
	patterns := map[string]func(k int32) Envelope{
		"peers":    func(k int32) Envelope { return Envelope{Peer: k} },
		"tags":     func(k int32) Envelope { return Envelope{Tag: k} },
		"both":     func(k int32) Envelope { return Envelope{Peer: k % 300, Tag: k / 300} },
		"contexts": func(k int32) Envelope { return Envelope{Context: uint32(k), Peer: k % 8, Tag: 99} },
		"strides":  func(k int32) Envelope { return Envelope{Peer: k % 16 << 10, Tag: k / 16 << 16} },
		"mirrored": func(k int32) Envelope { return Envelope{Peer: k, Tag: -k - 2} },
	}
	for name, pattern := range patterns {
		for pending := int32(100); pending <= 100000; pending *= 10 {
			nodes := &Nodes{}
			table := NewTable(nodes, int(pending))
			for k := range pending {
				table.Post(add(nodes, pattern(k), 0))
			}
			lines, s := 0, table.space.Load()
			for k := range pending {
				for b := s.home(pattern(k)); ; b = &s.buckets[b.next] {
					lines++
					if b.next == 0 {
						break
					}
				}
			}
			assert.LessOrEqual(t, float64(lines)/float64(pending), 1.25, "%s, %d pending", name, pending)
		}
	}
}

func TestNothingAllocates(t *testing.T) {
	each(t, func(t *testing.T, nodes *Nodes, m matcher) {
		e := Envelope{Peer: 1, Tag: 2}
		r, s := add(nodes, e, 0), add(nodes, e, 1)
		wild := add(nodes, Envelope{Peer: AnySource, Tag: 2}, 0)
		stays := func(i uint32) bool { return i != r }
		assert.Zero(t, testing.AllocsPerRun(100, func() {
			m.Post(r)
			m.Arrive(s)
			m.Arrive(s)
			m.Probe(e, stays)
			m.Post(wild)
			m.Post(wild)
			m.Cancel(wild)
		}))
	})
}

func TestListIsSorted(t *testing.T) {
	nodes := &Nodes{}
	var sorted, inserted list
	var want []uint64
	for range 1000 {
		number := rand.Uint64N(500)
		want = append(want, number)
		sorted.push(nodes, add(nodes, Envelope{Tag: int32(len(want))}, number))
	}
	sorted.sort(nodes)
	check := func(l list) {
		var forth, back []uint64
		for i, last := l.head, uint32(0); i != 0; last, i = i, nodes.At(i).after {
			forth = append(forth, nodes.At(i).Number)
			assert.Equal(t, last, nodes.At(i).before)
		}
		for i := l.tail; i != 0; i = nodes.At(i).before {
			back = append(back, nodes.At(i).Number)
		}
		slices.Reverse(back)
		assert.Equal(t, want, forth)
		assert.Equal(t, want, back)
	}
	for _, number := range want {
		inserted.insert(nodes, add(nodes, Envelope{}, number))
	}
	slices.Sort(want)
	check(sorted)
	check(inserted)
}

// A table grows while one envelope is hot. Its nodes still are in the order posted, and all there.
func TestHotEnvelopeInTableThatGrows(t *testing.T) {
	nodes := &Nodes{}
	m := New(HashTable, nodes, 0)
	var want, got []uint32
	for tag := range int32(100) {
		for range 2 {
			i := add(nodes, Envelope{}, 0)
			require.Equal(t, None, m.Post(i))
			want = append(want, i)
		}
		require.Equal(t, None, m.Post(add(nodes, Envelope{Tag: tag + 1}, 0)))
	}
	for range want {
		got = append(got, m.Arrive(add(nodes, Envelope{}, 0)))
	}
	require.Equal(t, want, got)
	require.Equal(t, None, m.Arrive(add(nodes, Envelope{}, 0)))
}

// The hot entry is free when the table becomes ordered, and its key is entered elsewhere before the table is plain again.
func TestHotEntryBesideOrder(t *testing.T) {
	nodes := &Nodes{}
	m := New(HashTable, nodes, 0) // one home bucket, of which the last free entry is taken
	post := func(e Envelope) uint32 {
		i := add(nodes, e, 0)
		require.Equal(t, None, m.Post(i))
		return i
	}
	other, key := Envelope{Tag: 1}, Envelope{Tag: 2}
	before := post(other)
	hot := post(key)
	require.Equal(t, before, m.Arrive(add(nodes, other, 1)))
	require.Equal(t, hot, m.Arrive(add(nodes, key, 2)))
	require.True(t, m.alone.hot.value == 0 && m.alone.hot.key == key)
	wild := post(Envelope{Tag: AnyTag})
	waiting := []uint32{post(key)}
	require.True(t, m.Cancel(wild))
	arrive := func(number uint64) {
		require.Equal(t, waiting[0], m.Arrive(add(nodes, key, number)))
		waiting = waiting[1:]
	}
	number := uint64(3)
	for ; m.table.ordered.Load() != 0; number++ {
		waiting = append(waiting, post(key))
		arrive(number)
	}
	waiting = append(waiting, post(key))
	for ; len(waiting) != 0; number++ {
		arrive(number)
	}
}

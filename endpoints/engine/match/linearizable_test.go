// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A call is one operation of a history: op with node i.
type call struct {
	op     byte // 'p'ost, 'a'rrive, 'c'ancel, 'l'ook or 'd'rop, which are probes that leave the message or take it
	i      uint32
	e      Envelope
	number uint64
}

// pending is a state of the specification: nodes in the order in which they came.
type pending struct{ receives, messages []call }

// specification says what is right, whatever order the calls of several threads took.
var specification = porcupine.Model{
	Init: func() any { return pending{} },
	Step: func(state, input, output any) (bool, any) {
		s, c, got := state.(pending), input.(call), output.(uint32)
		switch c.op {
		case 'p':
			return s.post(c, got)
		case 'a':
			return s.arrive(c, got)
		case 'c':
			return s.cancel(c, got)
		default:
			return s.probe(c, got)
		}
	},
	Equal: func(a, b any) bool {
		x, y := a.(pending), b.(pending)
		return slices.Equal(x.receives, y.receives) && slices.Equal(x.messages, y.messages)
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v = %v", input, output) },
}

func without(list []call, at int) []call { return slices.Concat(list[:at], list[at+1:]) }

func with(list []call, c call) []call { return append(slices.Clip(list), c) }

// post takes the message that came first; one with wildcards, that of lowest number.
func (s pending) post(c call, got uint32) (bool, any) {
	at := -1
	for k, m := range s.messages {
		if c.e.Takes(m.e) && (at < 0 || c.e.Wild() && m.number < s.messages[at].number) {
			at = k
		}
	}
	if at < 0 {
		return got == None, pending{with(s.receives, c), s.messages}
	}
	return got == s.messages[at].i, pending{s.receives, without(s.messages, at)}
}

func (s pending) arrive(c call, got uint32) (bool, any) {
	at := slices.IndexFunc(s.receives, func(r call) bool { return r.e.Takes(c.e) })
	if at < 0 {
		return got == None, pending{s.receives, with(s.messages, c)}
	}
	return got == s.receives[at].i, pending{without(s.receives, at), s.messages}
}

// probe finds the message that post takes.
func (s pending) probe(c call, got uint32) (bool, any) {
	as := c
	as.op = 'p'
	right, taken := s.post(as, got)
	if c.op == 'l' || got == None {
		return right, s
	}
	return right, taken
}

func (s pending) cancel(c call, got uint32) (bool, any) {
	is := func(r call) bool { return r.i == c.i }
	if at := slices.IndexFunc(s.receives, is); at >= 0 {
		return got == 1, pending{without(s.receives, at), s.messages}
	}
	if at := slices.IndexFunc(s.messages, is); at >= 0 {
		return got == 1, pending{s.receives, without(s.messages, at)}
	}
	return got == 0, s
}

// A history is what threads do to one matcher in one round.
type history struct {
	m       matcher
	nodes   *Nodes
	clock   atomic.Int64
	number  atomic.Uint64
	running atomic.Int32
	table   *Table
	probes  bool
	logSize int // of the table's homes, before it grows
}

const threads, callsEach = 3, 7

// peers and tags make more envelopes than the smallest space has entries, so that tables grow.
const peers, tags = 3, 3

// round lets all threads call at once, and returns who called what when and what
// came of it.
func (h *history) round(seed uint64, wild bool) []porcupine.Operation {
	h.table.space.Store(newSpace(h.logSize)) // it was emptied
	var group sync.WaitGroup
	h.running.Store(threads)
	done := make([][]porcupine.Operation, threads)
	for g := range threads {
		group.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(g)))
			defer h.running.Add(-1)
			for k := range callsEach {
				c := h.choose(r, uint32(1+g*callsEach+k), wild)
				op := porcupine.Operation{ClientId: g, Input: c, Call: h.clock.Add(1)}
				op.Output = h.do(c)
				op.Return = h.clock.Add(1)
				done[g] = append(done[g], op)
			}
		})
	}
	group.Go(func() { h.disturb(rand.New(rand.NewPCG(seed, threads))) })
	group.Wait()
	for i := range uint32(threads * callsEach) {
		h.m.Cancel(i + 1)
	}
	return slices.Concat(done...)
}

// choose picks a call for node i, which is free, or one that cancels any node of the round before i.
func (h *history) choose(r *rand.Rand, i uint32, wild bool) call {
	e := Envelope{Peer: int32(r.IntN(peers)), Tag: int32(r.IntN(tags))}
	n := h.nodes.At(i)
	n.Envelope = e
	switch k := r.IntN(16); {
	case k < 7:
		n.Number = h.number.Add(1)
		return call{op: 'a', i: i, e: e, number: n.Number}
	case k == 7 && (i-1)%callsEach > 0:
		return call{op: 'c', i: i - 1}
	case k == 14 && h.probes:
		return call{op: "ld"[r.IntN(2)], e: e}
	case k < 11 && wild:
		if e.Tag = AnyTag; k == 8 {
			e.Peer = AnySource
		}
		n.Envelope = e
	}
	return call{op: 'p', i: i, e: e}
}

func (h *history) do(c call) uint32 {
	switch c.op {
	case 'p':
		return h.m.Post(c.i)
	case 'a':
		return h.m.Arrive(c.i)
	case 'l', 'd':
		i, _ := h.m.Probe(c.e, func(uint32) bool { return c.op == 'l' })
		return i
	}
	if h.m.Cancel(c.i) {
		return 1
	}
	return 0
}

// disturb takes locks of the table and keeps them for a while, so that operations stop
// in their midst and others overtake them.
func (h *history) disturb(r *rand.Rand) {
	for h.running.Load() > 0 {
		lock := &h.table.order
		if k := r.IntN(1 + peers*tags); k > 0 {
			lock = &h.table.space.Load().home(Envelope{Peer: int32(k-1) / tags, Tag: int32(k-1) % tags}).lock
		}
		lock.Acquire()
		for range 1 + r.IntN(4) {
			runtime.Gosched()
		}
		lock.Release()
		runtime.Gosched()
	}
}

// overlapping counts the calls that began before one that had begun earlier was over.
func overlapping(ops []porcupine.Operation) (n int) {
	ops = slices.SortedFunc(slices.Values(ops), func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	end := int64(0)
	for _, op := range ops {
		if op.Call < end {
			n++
		}
		end = max(end, op.Return)
	}
	return n
}

// illegal runs rounds for some time, and not too few, and returns the first that no order explains.
func illegal(t *testing.T, limit time.Duration, h *history) []porcupine.Operation {
	for range threads * callsEach {
		h.table.nodes.Add()
	}
	h.nodes = h.table.nodes
	h.logSize = 64 - int(h.table.space.Load().shift)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rounds, overlaps, grown := 0, 0, 0
	for start := time.Now(); time.Since(start) < limit || rounds < 100; rounds++ {
		ops := h.round(seed+uint64(rounds), rounds%8 < 4)
		overlaps += overlapping(ops)
		if 64-int(h.table.space.Load().shift) > h.logSize {
			grown++
		}
		if !porcupine.CheckOperations(specification, ops) {
			return ops
		}
	}
	assert.Greater(t, overlaps, rounds, "the threads took turns")
	t.Logf("%d histories, in which %d calls overlapped others; in %d of them the table grew", rounds, overlaps, grown)
	if h.logSize == 0 {
		assert.NotZero(t, grown, "no table was full")
	}
	return nil
}

// Whatever threads do to a table at the same time, there is an order of the calls that
// explains all answers. Half of the rounds have wildcards, so the table changes to and
// fro; it has one home bucket and grows, or some.
func TestTableIsLinearizable(t *testing.T) {
	for _, size := range []int{1, 60} {
		table := NewTable(&Nodes{}, size)
		for _, op := range illegal(t, 1500*time.Millisecond, &history{m: table, table: table, probes: true}) {
			t.Errorf("thread %d, %3d to %3d: %+v = %v", op.ClientId, op.Call, op.Return, op.Input, op.Output)
		}
	}
}

// draft is the table of the draft paper: a match leaves the partner in, and the thread
// that found it erases it later. Between the two another call finds it again.
type draft struct{ *Table }

func (d draft) access(i, kind uint32) uint32 {
	n := d.nodes.At(i)
	s, home := d.lockHome(n.Envelope)
	e, _ := s.find(home, n.Envelope)
	if e == nil || e.kind() == kind {
		defer home.lock.Release()
		return d.swap(s, home, kind, i, n)
	}
	partner := e.first()
	home.lock.Release()
	runtime.Gosched()
	d.Cancel(partner)
	return partner
}

func (d draft) Post(i uint32) uint32   { return d.access(i, receive) }
func (d draft) Arrive(i uint32) uint32 { return d.access(i, message) }

// The check sees what it is there for.
func TestDraftsEraseIsNotLinearizable(t *testing.T) {
	table := NewTable(&Nodes{}, 60)
	assert.NotNil(t, illegal(t, 10*time.Second, &history{m: draft{table}, table: table}))
}

// A wildcard waits for an operation that found the table plain and is not over, and
// takes the message that it brings.
func TestWildcardSeesOperationsUnderWay(t *testing.T) {
	nodes := &Nodes{}
	table := NewTable(nodes, 10)
	m := add(nodes, Envelope{Tag: 5}, 1)
	r := add(nodes, Envelope{Tag: AnyTag}, 0)
	s, home := table.lockHome(nodes.At(m).Envelope) // Arrive has begun, and read "ordered"
	got := make(chan uint32)
	go func() { got <- table.Post(r) }()
	for table.ordered.Load() == 0 {
		runtime.Gosched()
	}
	require.Equal(t, None, table.swap(s, home, message, m, nodes.At(m)))
	home.lock.Release()
	assert.Equal(t, m, <-got)
}

// An operation that begins while a wildcard changes the table waits for it, though its
// bucket is free, and sees it.
func TestOperationsWaitForTheWildcard(t *testing.T) {
	nodes := &Nodes{}
	table := NewTable(nodes, 10)
	m := add(nodes, Envelope{Tag: 5}, 1)
	table.enter() // Post with a wildcard has begun
	r := add(nodes, Envelope{Tag: AnyTag}, 0)
	got := make(chan uint32)
	go func() { got <- table.Arrive(m) }()
	select {
	case <-got:
		t.Fatal("a message passed by")
	case <-time.After(20 * time.Millisecond):
	}
	nodes.At(r).Number, nodes.At(r).where = table.clock.Add(1), listed
	table.wild.push(nodes, r)
	table.order.Release()
	assert.Equal(t, r, <-got)
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// matcher is what both matchers do.
type matcher interface {
	Post(i uint32) uint32
	Arrive(i uint32) uint32
	Probe(e Envelope, stays func(uint32) bool) (i uint32, out bool)
	Cancel(i uint32) bool
}

// matchers make all that there are, for about so many nodes.
func matchers(pending int) map[string]func(*Nodes) matcher {
	return map[string]func(*Nodes) matcher{
		"shared": func(n *Nodes) matcher { return NewTable(n, pending) },
		"table":  func(n *Nodes) matcher { m := New(HashTable, n, pending); return &m },
		"small":  func(n *Nodes) matcher { m := New(HashTable, n, 0); return &m }, // full at once
		"queues": func(n *Nodes) matcher { m := New(TwoQueues, n, 0); return &m },
	}
}

// each runs a test over all matchers.
func each(t *testing.T, run func(t *testing.T, nodes *Nodes, m matcher)) {
	for name, make := range matchers(100) {
		t.Run(name, func(t *testing.T) {
			nodes := &Nodes{}
			run(t, nodes, make(nodes))
		})
	}
}

func add(nodes *Nodes, e Envelope, number uint64) uint32 {
	i := nodes.Add()
	n := nodes.At(i)
	n.Envelope, n.Number = e, number
	return i
}

// naive is the definition: two lists.
type naive struct {
	nodes              *Nodes
	receives, messages []uint32
}

func takeFirst(list *[]uint32, fits func(i uint32) bool) uint32 {
	at := slices.IndexFunc(*list, fits)
	if at < 0 {
		return None
	}
	i := (*list)[at]
	*list = slices.Delete(*list, at, at+1)
	return i
}

func (m *naive) Post(i uint32) uint32 {
	partner := takeFirst(&m.messages, func(j uint32) bool { return m.nodes.At(i).Takes(m.nodes.At(j).Envelope) })
	if partner == None {
		m.receives = append(m.receives, i)
	}
	return partner
}

func (m *naive) Arrive(i uint32) uint32 {
	partner := takeFirst(&m.receives, func(j uint32) bool { return m.nodes.At(j).Takes(m.nodes.At(i).Envelope) })
	if partner == None {
		m.messages = append(m.messages, i)
	}
	return partner
}

func (m *naive) Probe(e Envelope) uint32 {
	for _, i := range m.messages {
		if e.Takes(m.nodes.At(i).Envelope) {
			return i
		}
	}
	return None
}

func (m *naive) Cancel(i uint32) bool {
	is := func(j uint32) bool { return i == j }
	return takeFirst(&m.receives, is) != None || takeFirst(&m.messages, is) != None
}

// postAll posts receives with one envelope, as many as wait in one step, and each of the others.
func postAll(t *testing.T, model *naive, m *Matcher, receives []uint32) {
	waiting := m.PostAll(receives)
	for k, i := range receives {
		partner := None
		if k >= waiting {
			partner = m.Post(i)
		}
		require.Equal(t, model.Post(i), partner, "receive %d of %d, of which %d waited", k, len(receives), waiting)
	}
}

// arriveAll hands in messages with one envelope, as many as match in one step, and each of the others.
func arriveAll(t *testing.T, model *naive, m *Matcher, messages []uint32) {
	receives := make([]uint32, len(messages))
	matched := m.ArriveAll(model.nodes.At(messages[0]).Envelope, receives)
	for k, i := range messages {
		if k >= matched {
			receives[k] = m.Arrive(i)
		}
		require.Equal(t, model.Arrive(i), receives[k], "message %d of %d, of which %d matched", k, len(messages), matched)
	}
}

// compare does what script says to m and to the model, two bytes a step.
func compare(t *testing.T, nodes *Nodes, m matcher, script []byte) {
	const stale = 1 << 40 // a receive's number is the matcher's own, and its node may have had another
	model := &naive{nodes: nodes}
	number := uint64(0)
	for step := 0; len(script) >= 2; step++ {
		op, arg := script[0], script[1]
		script = script[2:]
		e := Envelope{Context: uint32(arg) & 1, Peer: int32(arg>>1&3) - 1, Tag: int32(arg>>3&3) - 1}
		exact := Envelope{Context: e.Context, Peer: max(0, e.Peer), Tag: max(0, e.Tag)}
		if all, ok := m.(*Matcher); ok && op&0x80 != 0 { // several at once
			var some []uint32
			for range 1 + op>>4&3 {
				number++
				some = append(some, add(nodes, exact, number))
			}
			if op&0x08 != 0 {
				postAll(t, model, all, some)
			} else {
				arriveAll(t, model, all, some)
			}
		}
		switch op % 8 {
		case 0, 1:
			i := add(nodes, e, stale)
			require.Equal(t, model.Post(i), m.Post(i), "step %d: post %+v", step, e)
		case 2, 3:
			i := add(nodes, exact, stale)
			require.Equal(t, model.Post(i), m.Post(i), "step %d: post %+v", step, exact)
		case 4, 5, 6:
			number++
			i := add(nodes, exact, number)
			require.Equal(t, model.Arrive(i), m.Arrive(i), "step %d: arrive %+v", step, exact)
		default:
			drop := arg&0x40 != 0
			found, out := m.Probe(e, func(uint32) bool { return !drop })
			require.Equal(t, model.Probe(e), found, "step %d: probe %+v", step, e)
			require.Equal(t, drop && found != None, out)
			if out {
				model.Cancel(found)
			}
			if n := int(nodes.length); n > 1 {
				i := uint32(1 + (int(op)<<8|int(arg))%(n-1))
				require.Equal(t, model.Cancel(i), m.Cancel(i), "step %d: cancel %d", step, i)
			}
		}
		if step%512 > 480 { // empty it
			for _, i := range slices.Concat(model.receives, model.messages) {
				require.True(t, model.Cancel(i) && m.Cancel(i), "step %d: cancel %d", step, i)
			}
		}
		if m, ok := m.(*Matcher); ok {
			require.Equal(t, len(model.receives)+len(model.messages) == 0, m.Empty(), "step %d", step)
		}
	}
}

// Long random scripts, where stretches without wildcards make the table plain again.
func TestMatchersDoAsTheModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	each(t, func(t *testing.T, nodes *Nodes, m matcher) {
		r := rand.New(rand.NewPCG(seed, 0))
		script := make([]byte, 12000)
		for i := range script {
			script[i] = byte(r.Uint32())
			if stretch := i / 3000 % 2; stretch == 1 && i%2 == 0 {
				script[i] = 2 + script[i]%5 // exact ones only
			}
		}
		compare(t, nodes, m, script)
	})
}

func FuzzMatchers(f *testing.F) {
	f.Add([]byte{0, 0, 4, 0, 4, 9, 2, 9, 7, 1})
	f.Fuzz(func(t *testing.T, script []byte) {
		each(t, func(t *testing.T, nodes *Nodes, m matcher) { compare(t, nodes, m, script) })
	})
}

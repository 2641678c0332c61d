// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tpsl

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// protocol is how a rank and its helpers agree (progress.c), or what is left of it.
type protocol struct {
	barrier bool // the helper has the kernel make the rank's CPU pass a barrier
	asks    bool // the helper looks again whether the rank is inside
	waits   bool // the rank looks whether there is a helper
}

// A machine is a rank and two helpers on CPUs that delay stores (TSO): a store waits in its CPU's buffer, which a load of another CPU does not
// see, until the buffer is written out.
type machine struct {
	inside, helper int8
	rank           rankState
	helpers        [2]helperState
}

// What the rank does next; it begins again at the end.
const (
	rankEnters = iota // inside = 1
	rankLooks         // is there a helper?
	rankCalls
	rankNests      // in a callback of the call: inside = 2
	rankLooksAgain // is there a helper?
	rankReturns    // inside = 1
	rankLeaves     // inside = 0
)

type rankState struct {
	next   int8
	buffer [3]int8 // values for inside, the oldest first; -1: none
}

// What a helper does next; it begins again at the end.
const (
	helperPeeks     = iota // is the rank inside?
	helperAnnounces        // helper = 1 or 2, if it was 0
	helperFences           // membarrier
	helperAsks             // is the rank inside?
	helperHelps
	helperReleases // helper = 0
)

type helperState struct {
	next    int8
	release bool // in the buffer: helper = 0
}

func (r rankState) store(value int8) rankState {
	for i, v := range r.buffer {
		if v < 0 {
			r.buffer[i] = value
			break
		}
	}
	return r
}

func (m machine) writeOut() machine {
	if m.rank.buffer[0] >= 0 {
		m.inside = m.rank.buffer[0]
		m.rank.buffer = [3]int8{m.rank.buffer[1], m.rank.buffer[2], -1}
	}
	return m
}

func (m machine) writeOutAll() machine {
	for m.rank.buffer[0] >= 0 {
		m = m.writeOut()
	}
	return m
}

// next returns all machines that one step of this one may lead to.
func (m machine) next(p protocol) (after []machine) {
	after = append(after, m.rankSteps(p)...)
	if m.rank.buffer[0] >= 0 {
		after = append(after, m.writeOut())
	}
	for i, h := range m.helpers {
		if h.release {
			n := m
			n.helper, n.helpers[i].release = 0, false
			after = append(after, n)
		}
		after = append(after, m.helperSteps(p, i)...)
	}
	return after
}

func (m machine) rankSteps(p protocol) []machine {
	n := m
	go1 := func(next int8) []machine { n.rank.next = next; return []machine{n} }
	switch m.rank.next {
	case rankEnters, rankNests, rankReturns, rankLeaves:
		if m.rank.buffer[2] >= 0 {
			return nil // the buffer is full
		}
		n.rank = n.rank.store(map[int8]int8{rankEnters: 1, rankNests: 2, rankReturns: 1, rankLeaves: 0}[m.rank.next])
		return go1((m.rank.next + 1) % (rankLeaves + 1))
	case rankLooks, rankLooksAgain:
		if p.waits && m.helper != 0 {
			return nil // it looks until there is none
		}
		return go1(m.rank.next + 1)
	default: // rankCalls: with a callback or without
		with, without := m, m
		with.rank.next, without.rank.next = rankNests, rankLeaves
		return []machine{with, without}
	}
}

func (m machine) helperSteps(p protocol, i int) []machine {
	n := m
	h := &n.helpers[i]
	h.next++
	switch m.helpers[i].next {
	case helperPeeks:
		if m.inside != 0 {
			return nil
		}
	case helperAnnounces: // a locked instruction, which writes the buffer out
		if h.release {
			return nil
		}
		if m.helper != 0 {
			h.next = helperPeeks
			break
		}
		n.helper = int8(i + 1)
	case helperFences:
		if p.barrier {
			n = n.writeOutAll()
		}
	case helperAsks:
		if p.asks && m.inside != 0 {
			h.next = helperReleases
		}
	case helperReleases:
		h.next, h.release = helperPeeks, true
	}
	return []machine{n}
}

func (m machine) rankCallsLibrary() bool { return m.rank.next > rankLooks }

func (m machine) wrong() bool {
	first, second := m.helpers[0].next == helperHelps, m.helpers[1].next == helperHelps
	return first && second || m.rankCallsLibrary() && (first || second)
}

// explore returns all machines that can be reached, with those that lead to each.
func explore(p protocol) map[machine][]machine {
	start := machine{rank: rankState{buffer: [3]int8{-1, -1, -1}}}
	from := map[machine][]machine{start: nil}
	for left := []machine{start}; len(left) > 0; {
		m := left[0]
		left = left[1:]
		for _, n := range m.next(p) {
			if _, known := from[n]; !known {
				left = append(left, n)
			}
			from[n] = append(from[n], m)
		}
	}
	return from
}

func violates(machines map[machine][]machine) bool {
	for m := range machines {
		if m.wrong() {
			return true
		}
	}
	return false
}

// No order of steps lets a helper and the rank, or two helpers, into the library at once, and none keeps the rank out for ever. Each part of the
// protocol is needed.
func TestHelpers(t *testing.T) {
	machines := explore(protocol{barrier: true, asks: true, waits: true})
	assert.False(t, violates(machines))
	assert.Greater(t, len(machines), 100) // nothing was left out by mistake

	// Machines from which the rank can come to its call, the shortest way first.
	reach, left := map[machine]bool{}, []machine{}
	for m := range machines {
		if m.rank.next == rankCalls {
			reach[m], left = true, append(left, m)
		}
	}
	for len(left) > 0 {
		for _, before := range machines[left[0]] {
			if !reach[before] {
				reach[before], left = true, append(left, before)
			}
		}
		left = left[1:]
	}
	assert.Len(t, reach, len(machines))

	for _, lacking := range []protocol{{asks: true, waits: true}, {barrier: true, waits: true}, {barrier: true, asks: true}} {
		assert.True(t, violates(explore(lacking)), "%+v", lacking)
	}
}

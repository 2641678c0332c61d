// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package signal

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A model is a network in which one message at a time goes on by one channel, and its credit is back at once. So it
// has all orders in which the messages of a real one can go on. A state is a byte for each buffer, 0 or the destination and 1, in the order of the
// queue; then for each process how many messages it has sent.
type model struct {
	torus    *Torus
	channels [][]channel
	routes   []routes
	from     [][]int // by process and channel: where the queues are of the channel that leads out
	into     [][]int // by process and channel: the same of the neighbour's channel that leads in
	buffers  int
	classes  int
	isFlat   bool
	sends    func(rank, number int) (to int, more bool)
}

func newModel(torus *Torus, buffers int, isFlat bool, sends func(rank, number int) (to int, more bool)) *model {
	m := &model{torus: torus, buffers: buffers, classes: len(torus.sides) + 1, isFlat: isFlat, sends: sends}
	place := map[[2]int]int{}
	for rank := range torus.Size() {
		m.channels = append(m.channels, torus.channels(rank))
		m.routes = append(m.routes, torus.routesFrom(rank, nil))
		for _, c := range m.channels[rank] {
			place[[2]int{rank, c.to}] = len(place) * m.classes * buffers
		}
	}
	for rank, channels := range m.channels {
		var from, into []int
		for _, c := range channels {
			from, into = append(from, place[[2]int{rank, c.to}]), append(into, place[[2]int{c.to, rank}])
		}
		m.from, m.into = append(m.from, from), append(m.into, into)
	}
	return m
}

// onward puts a message into a buffer of the next channel of its way, if one is free.
func (m *model) onward(s []byte, at, came int, class int, to int) bool {
	i, ascends := choose(m.channels[at], m.routes[at][to], came)
	if ascends && !m.isFlat {
		class++
	}
	queue := s[m.from[at][i]+class*m.buffers:][:m.buffers]
	for k := range queue {
		if queue[k] == 0 {
			queue[k] = byte(to + 1)
			return true
		}
	}
	return false
}

// after returns the states that one step leads to, and whether all messages have come.
func (m *model) after(state string) (next []string, over bool) {
	over = true
	sent := len(state) - m.torus.Size()
	try := func(change func(s []byte) bool) {
		over = false
		if s := []byte(state); change(s) {
			next = append(next, string(s))
		}
	}
	for rank, channels := range m.channels {
		if to, more := m.sends(rank, int(state[sent+rank])); more {
			try(func(s []byte) bool {
				s[sent+rank]++
				return m.onward(s, rank, start, 0, to)
			})
		}
		for i, c := range channels {
			for class := range m.classes {
				at := m.into[rank][i] + class*m.buffers
				if state[at] == 0 {
					continue
				}
				try(func(s []byte) bool {
					to := int(s[at]) - 1
					copy(s[at:at+m.buffers], s[at+1:at+m.buffers])
					s[at+m.buffers-1] = 0
					return to == rank || m.onward(s, rank, m.came(c.to, rank), class, to)
				})
			}
		}
	}
	return next, over
}

func (m *model) came(from, to int) int {
	for _, c := range m.channels[from] {
		if c.to == to {
			return c.order
		}
	}
	return start
}

// explore visits all states, and counts them and those from which nothing moves although messages are on their way.
func (m *model) explore() (states, stuck int) {
	size := 0
	for _, channels := range m.channels {
		size += len(channels) * m.classes * m.buffers
	}
	first := string(make([]byte, size+m.torus.Size()))
	seen := map[string]bool{first: true}
	for todo := []string{first}; len(todo) > 0; {
		state := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		next, over := m.after(state)
		if len(next) == 0 && !over {
			stuck++
		}
		for _, s := range next {
			if !seen[s] {
				seen[s] = true
				todo = append(todo, s)
			}
		}
	}
	return len(seen), stuck
}

// In all orders in which messages can go on, all come; without classes some orders hang.
func TestNoOrderHangs(t *testing.T) {
	far := func(size, count int) func(rank, number int) (int, bool) { // half around, so many times
		return func(rank, number int) (int, bool) { return (rank + size/2) % size, number < count }
	}
	all := func(size int) func(rank, number int) (int, bool) {
		return func(rank, number int) (int, bool) { return (rank + size - 1 - number) % size, number < size-1 }
	}
	// One line of 4x4, half around.
	row := func(rank, number int) (int, bool) { return (rank + 2) % 4, rank < 4 && number < 2 }
	column := func(rank, number int) (int, bool) { return (rank + 8) % 16, rank%4 == 0 && number < 2 }
	for _, c := range []struct {
		size, dimensions, buffers int
		sends                     func(rank, number int) (int, bool)
		hangs                     bool // without classes
	}{
		{3, 1, 1, all(3), false},
		{4, 1, 1, far(4, 2), true},
		{4, 1, 2, far(4, 3), true},
		{4, 1, 1, all(4), true},
		{5, 1, 1, far(5, 2), true},
		{6, 1, 1, far(6, 1), true},
		{5, 2, 1, far(5, 2), false},
		{6, 2, 1, far(6, 1), false},
		{8, 3, 1, far(8, 1), false},
		{16, 2, 1, row, true},
		{16, 2, 1, column, true},
	} {
		t.Run(fmt.Sprintf("%d in %dD, %d buffers", c.size, c.dimensions, c.buffers), func(t *testing.T) {
			torus := torus(t, c.size, c.dimensions)
			states, stuck := newModel(torus, c.buffers, false, c.sends).explore()
			assert.Zero(t, stuck)
			flatStates, flat := newModel(torus, c.buffers, true, c.sends).explore()
			t.Logf("%d states with classes; %d without, of which %d are stuck", states, flatStates, flat)
			assert.Equal(t, c.hangs, flat > 0, "without classes")
		})
	}
}

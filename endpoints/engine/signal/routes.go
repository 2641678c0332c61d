// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package signal

// A link is named by its two ends, the lower rank first.
type edge [2]int

func edgeOf(a, b int) edge { return edge{min(a, b), max(a, b)} }

// routes says by which channels of a process a shortest way to each other begins: a bit for
// each channel. None means that no way leads there.
type routes []uint8

// routesFrom finds them over the links that are not down.
func (t *Torus) routesFrom(rank int, down map[edge]bool) routes {
	to := make(routes, t.size)
	steps := make([]int32, t.size) // plus 1; 0: not seen
	steps[rank] = 1
	queue := []int{rank}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for i, c := range t.channels(at) {
			if down[edgeOf(at, c.to)] {
				continue
			}
			if steps[c.to] == 0 {
				steps[c.to] = steps[at] + 1
				queue = append(queue, c.to)
			}
			if steps[c.to] == steps[at]+1 {
				if at == rank {
					to[c.to] |= 1 << i
				} else {
					to[c.to] |= to[at]
				}
			}
		}
	}
	return to
}

// start is the order of the channel by which a message has come that has not moved yet.
const start = -1

// choose returns the channel of a process by which a message goes on, and whether it goes on in
// the next class. Of the channels that begin a shortest way it takes the next one in order
// after the one by which the message has come. If all are before that, it takes the first
// one, and the class after: so class and order together always grow.
func choose(channels []channel, shortest uint8, came int) (index int, ascends bool) {
	first := -1
	for i, c := range channels {
		switch {
		case shortest&(1<<i) == 0:
		case c.order > came:
			return i, false
		case first < 0:
			first = i
		}
	}
	return first, true
}

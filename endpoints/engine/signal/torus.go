// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package signal

import (
	"fmt"
	"slices"
)

// MaxDimensions is how many dimensions a torus may have.
const MaxDimensions = 3

// A Torus says which processes have links. The processes are in rank order in a grid: coordinate
// i counts the steps of the product of the sizes before it. The last plane may be partial. Each
// line of the grid is closed, at the last process that exists. In addition each process has a
// link to the next rank, and the last one to rank 0: the ring.
type Torus struct {
	size  int
	sides []int // of the grid, by dimension
}

// NewTorus returns the torus of so many processes: all sides but the last have the greatest length whose power, by
// the number of dimensions, does not exceed them.
func NewTorus(processes, dimensions int) (*Torus, error) {
	if processes < 1 || processes > 1<<30 {
		return nil, fmt.Errorf("a torus of %d processes: take 1 to %d", processes, 1<<30)
	}
	if dimensions < 1 || dimensions > MaxDimensions {
		return nil, fmt.Errorf("a torus of %d dimensions: take 1 to %d", dimensions, MaxDimensions)
	}
	side, plane := processes, 1
	if dimensions > 1 {
		for side = 1; power(side+1, dimensions) <= processes; side++ {
		}
		plane = power(side, dimensions-1)
	}
	t := &Torus{size: processes}
	for range dimensions - 1 {
		t.sides = append(t.sides, side)
	}
	t.sides = append(t.sides, (processes+plane-1)/plane)
	return t, nil
}

func power(base, exponent int) int {
	p := 1
	for range exponent {
		p *= base
	}
	return p
}

// Size returns the number of processes.
func (t *Torus) Size() int { return t.size }

// A channel is one direction of a link. Along each line of the grid the order grows from channel
// to channel, but for the one place where the line closes: the dateline. The order of a higher
// dimension is greater, and that of the ring's own links is the greatest.
type channel struct {
	to    int
	order int
}

// channels returns the channels from a process, in the order of their orders. A link that
// belongs to a line of the grid and to the ring counts as the grid's.
func (t *Torus) channels(rank int) (all []channel) {
	add := func(to, dimension, backward, position int) {
		known := slices.ContainsFunc(all, func(c channel) bool { return c.to == to })
		if to != rank && !known {
			all = append(all, channel{to: to, order: (2*dimension+backward)<<32 + position})
		}
	}
	stride := 1
	for i, side := range t.sides {
		at := rank / stride % side
		first := rank - at*stride // of the line
		length := min(side, (t.size-first+stride-1)/stride)
		add(first+(at+1)%length*stride, i, 0, at)
		add(first+(at+length-1)%length*stride, i, 1, length-1-at)
		stride *= side
	}
	add((rank+1)%t.size, len(t.sides), 0, rank)
	add((rank+t.size-1)%t.size, len(t.sides), 1, t.size-1-rank)
	return all
}

// Neighbours returns the ranks to which a process has links, in no particular order.
func (t *Torus) Neighbours(rank int) (ranks []int) {
	for _, c := range t.channels(rank) {
		ranks = append(ranks, c.to)
	}
	return ranks
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import "math/rand/v2"

// An edge joins two vertices.
type edge struct{ u, v uint32 }

// The chances that an edge falls into a quarter of the adjacency matrix, and edges per vertex, of the benchmark.
const (
	chanceA, chanceB, chanceC = 0.57, 0.19, 0.19

	edgeFactor = 16
)

// kronecker makes a graph of 2^scale vertices, whose numbers are shuffled.
func kronecker(scale int, seed uint64) []edge {
	random := rand.New(rand.NewPCG(seed, uint64(scale)))
	numbers := random.Perm(1 << scale)
	edges := make([]edge, edgeFactor<<scale)
	for i := range edges {
		var u, v int
		for bit := range scale {
			switch r := random.Float64(); {
			case r < chanceA:
			case r < chanceA+chanceB:
				v |= 1 << bit
			case r < chanceA+chanceB+chanceC:
				u |= 1 << bit
			default:
				u |= 1 << bit
				v |= 1 << bit
			}
		}
		edges[i] = edge{uint32(numbers[u]), uint32(numbers[v])}
	}
	return edges
}

// A part is what a rank of several has of a graph: the vertices v with v % ranks == rank, and their neighbours.
type part struct {
	rank, ranks int
	first       []int // of the neighbours of the i-th vertex; one more at the end
	neighbours  []uint32
}

// owner tells whose a vertex is, and where it stands there.
func (p *part) owner(v uint32) (rank int, index int) {
	return int(v) % p.ranks, int(v) / p.ranks
}

// partOf takes a rank's part out of a graph. Edges from a vertex to itself lead nowhere.
func partOf(edges []edge, vertices, rank, ranks int) *part {
	p := &part{rank: rank, ranks: ranks, first: make([]int, (vertices+ranks-1-rank)/ranks+1)}
	each := func(do func(index int, to uint32)) {
		for _, e := range edges {
			if e.u == e.v {
				continue
			}
			if r, i := p.owner(e.u); r == rank {
				do(i, e.v)
			}
			if r, i := p.owner(e.v); r == rank {
				do(i, e.u)
			}
		}
	}
	each(func(i int, _ uint32) { p.first[i+1]++ })
	for i := range len(p.first) - 1 {
		p.first[i+1] += p.first[i]
	}
	p.neighbours = make([]uint32, p.first[len(p.first)-1])
	next := append([]int(nil), p.first...)
	each(func(i int, to uint32) {
		p.neighbours[next[i]] = to
		next[i]++
	})
	return p
}

// of returns the neighbours of the i-th vertex.
func (p *part) of(i int) []uint32 { return p.neighbours[p.first[i]:p.first[i+1]] }

// vertices is how many the part has.
func (p *part) vertices() int { return len(p.first) - 1 }

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

// A role is what a node does.
type role int

const (
	source     role = iota // makes data
	comparator             // combines what comes in
	sink                   // sums it up
)

// A node of a graph, whose number is its place in the list.
type node struct {
	role    role
	in, out []arc
}

// An arc leads from a node or to one; its number is its messages' tag.
type arc struct{ number, peer int }

// A graph is sorted: an arc leads to a later node.
type graph []node

// degree is how many arcs a node of the trees has at most.
const degree = 4

// newGraph makes the graph of a name: BH, many to one; WH, one to many; SH, a shuffle.
func newGraph(name string, width int) (graph, error) {
	switch name {
	case "BH":
		return funnel(width), nil
	case "WH":
		return funnel(width).reversed(), nil
	case "SH":
		return shuffle(width), nil
	}
	return nil, fmt.Errorf("-graph %s: there are BH, WH and SH", name)
}

// join adds an arc.
func (g graph) join(number, from, to int) {
	g[from].out = append(g[from].out, arc{number, to})
	g[to].in = append(g[to].in, arc{number, from})
}

// funnel has layers that are each a quarter as wide as the one before, from sources to one sink.
func funnel(width int) graph {
	g := make(graph, width)
	arcs, first, last := 0, 0, width // of the layer before
	layer := func(wide int, r role) {
		for i := range wide {
			g = append(g, node{role: r})
			for from := first + i*degree; from < min(last, first+(i+1)*degree); from++ {
				g.join(arcs, from, len(g)-1)
				arcs++
			}
		}
		first, last = last, len(g)
	}
	for last-first > degree {
		layer((last-first+degree-1)/degree, comparator)
	}
	layer(1, sink)
	return g
}

// reversed turns all arcs round.
func (g graph) reversed() graph {
	r := make(graph, len(g))
	turn := func(arcs []arc) (turned []arc) {
		for _, a := range arcs {
			turned = append(turned, arc{a.number, len(g) - 1 - a.peer})
		}
		return turned
	}
	for i, n := range g {
		r[len(g)-1-i] = node{role: sink - n.role, in: turn(n.out), out: turn(n.in)}
	}
	return r
}

// shuffle has layers of one width, in which nodes meet as in a butterfly.
func shuffle(width int) graph {
	g := make(graph, width)
	arcs, first := 0, 0
	for bit := 1; bit < width; bit *= 2 {
		r := comparator
		if 2*bit >= width {
			r = sink
		}
		for i := range width {
			g = append(g, node{role: r})
			for _, from := range []int{first + i&^bit, first + i&^bit + bit} {
				g.join(arcs, from, len(g)-1)
				arcs++
			}
		}
		first += width
	}
	return g
}

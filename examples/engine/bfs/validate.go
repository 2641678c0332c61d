// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

// none stands for no parent, and for no level.
const none = -1

// serial returns the level of each vertex, found by one thread.
func serial(p *part, root uint32) []int64 {
	levels := make([]int64, p.vertices())
	for i := range levels {
		levels[i] = none
	}
	levels[root] = 0
	for queue := []uint32{root}; len(queue) > 0; queue = queue[1:] {
		for _, v := range p.of(int(queue[0])) {
			if levels[v] == none {
				levels[v] = levels[queue[0]] + 1
				queue = append(queue, v)
			}
		}
	}
	return levels
}

// validate checks a tree by the rules of the benchmark, and its levels against those of one thread. It
// returns the number of edges that the search went along.
func validate(edges []edge, root uint32, parents, want []int64) (traversed int, err error) {
	if parents[root] != int64(root) {
		return 0, fmt.Errorf("the root %d has the parent %d, not itself", root, parents[root])
	}
	levels, err := levelsOf(parents, root)
	if err != nil {
		return 0, err
	}
	inGraph := make([]bool, len(parents)) // the edge to the parent
	inGraph[root] = true
	for _, e := range edges {
		a, b := levels[e.u], levels[e.v]
		switch {
		case (a == none) != (b == none):
			return 0, fmt.Errorf("of the edge %d-%d the tree has one end only", e.u, e.v)
		case a-b > 1 || b-a > 1:
			return 0, fmt.Errorf("the edge %d-%d joins the levels %d and %d", e.u, e.v, a, b)
		case a != none:
			traversed++
		}
		inGraph[e.u] = inGraph[e.u] || parents[e.u] == int64(e.v)
		inGraph[e.v] = inGraph[e.v] || parents[e.v] == int64(e.u)
	}
	for v, parent := range parents {
		switch {
		case parent != none && !inGraph[v]:
			return 0, fmt.Errorf("the tree's edge %d-%d is not in the graph", v, parent)
		case levels[v] != want[v]:
			return 0, fmt.Errorf("vertex %d is at level %d, found by one thread at %d", v, levels[v], want[v])
		}
	}
	return traversed, nil
}

// levelsOf follows the parents up to the root.
func levelsOf(parents []int64, root uint32) ([]int64, error) {
	levels := make([]int64, len(parents))
	for i := range levels {
		levels[i] = none
	}
	levels[root] = 0
	var path []int64
	for v, parent := range parents {
		if parent < none || parent >= int64(len(parents)) {
			return nil, fmt.Errorf("vertex %d has the parent %d, which is no vertex", v, parent)
		}
		path = path[:0]
		at := int64(v)
		for ; parents[at] != none && levels[at] == none; at = parents[at] {
			if path = append(path, at); len(path) > len(parents) {
				return nil, fmt.Errorf("the parents of vertex %d go round in a circle", v)
			}
		}
		if levels[at] == none && len(path) > 0 {
			return nil, fmt.Errorf("vertex %d has a parent that is not in the tree", path[len(path)-1])
		}
		for up := int64(1); len(path) > 0; up++ {
			levels[path[len(path)-1]] = levels[at] + up
			path = path[:len(path)-1]
		}
	}
	return levels, nil
}

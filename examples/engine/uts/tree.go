// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha1"
	"encoding/binary"
	"math"
)

// A node of a tree: the state of its random numbers, from which its children follow, and its depth.
type node struct {
	state [sha1.Size]byte
	depth uint32
}

// A tree is what makes one. A binomial tree's root has base children, every other node has
// with probability q as many as m, or none; with q*m just under 1 its branches are of any size.
// In a geometric tree the number of children is distributed geometrically with mean base, down to a depth.
type tree struct {
	seed      uint32
	binomial  bool
	base      float64 // children of the root, or their mean
	q         float64
	m         int
	depth     uint32 // of a geometric tree
	published totals // zero if it is not
}

// totals tell about a tree, or about the part that a thread has seen.
type totals struct{ nodes, leaves, depth int64 }

// trees are the published ones of four million nodes, and small ones for a look.
var trees = map[string]tree{
	"T1":       {seed: 19, base: 4, depth: 10, published: totals{4130071, 3305118, 10}},
	"T3":       {seed: 42, binomial: true, base: 2000, q: 0.124875, m: 8, published: totals{4112897, 3599034, 1572}},
	"T1-small": {seed: 19, base: 4, depth: 7},
	"T3-small": {seed: 42, binomial: true, base: 40, q: 0.124, m: 8},
}

const mostChildren = 100

func (t tree) root() node {
	var text [20]byte
	binary.BigEndian.PutUint32(text[16:], t.seed)
	return node{state: sha1.Sum(text[:])}
}

// child returns the i-th one.
func (n *node) child(i int) node {
	var text [sha1.Size + 4]byte
	copy(text[:], n.state[:])
	binary.BigEndian.PutUint32(text[sha1.Size:], uint32(i))
	return node{sha1.Sum(text[:]), n.depth + 1}
}

// random returns the node's number, from 0 to below 1.
func (n *node) random() float64 {
	return float64(binary.BigEndian.Uint32(n.state[16:])&math.MaxInt32) / (1 << 31)
}

// children returns how many a node has.
func (t *tree) children(n *node) int {
	switch {
	case t.binomial && n.depth == 0:
		return int(t.base)
	case t.binomial:
		if n.random() < t.q {
			return t.m
		}
		return 0
	case n.depth >= t.depth:
		return 0
	}
	p := 1 / (1 + t.base)
	return min(mostChildren, int(math.Log(1-n.random())/math.Log(1-p)))
}

// visit counts a node and appends its children.
func (t *tree) visit(n node, of *totals, stack []node) []node {
	count := t.children(&n)
	of.nodes++
	of.depth = max(of.depth, int64(n.depth))
	if count == 0 {
		of.leaves++
	}
	for i := range count {
		stack = append(stack, n.child(i))
	}
	return stack
}

// serial counts on one thread.
func (t *tree) serial() (of totals) {
	stack := []node{t.root()}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = t.visit(n, &of, stack[:len(stack)-1])
	}
	return of
}

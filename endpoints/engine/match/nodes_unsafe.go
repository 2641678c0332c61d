// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"math/bits"
	"unsafe"
)

const line = 64 // bytes of a cache line

// Nodes is a slab of nodes that grows, where a node keeps its index and its place.
// The zero value is empty. Index 0 is no node.
type Nodes struct {
	chunks [25]*Node // chunk 0 has firstChunk nodes; chunk k, all indices with k more bits
	length uint32
}

const (
	firstBits  = 3
	firstChunk = 1 << firstBits
	maxNodes   = firstChunk << 24 // indices stay below full
)

// At returns node i. It may run beside Add.
func (n *Nodes) At(i uint32) *Node {
	chunk, size := place(i)
	return (*Node)(unsafe.Add(unsafe.Pointer(n.chunks[chunk]), uintptr(i&(size-1))*unsafe.Sizeof(Node{})))
}

// place returns the chunk of node i and the chunk's size, which is also, save in
// the first, its lowest index.
func place(i uint32) (chunk, size uint32) {
	chunk = uint32(bits.Len32(i >> firstBits))
	return chunk, firstChunk << max(1, chunk) >> 1
}

// Add returns the index of a new node. Preconditions: no other thread is in Add.
func (n *Nodes) Add() uint32 {
	n.length = max(n.length, 1)
	i := n.length
	if i == maxNodes {
		panic("match: more than 2^27 nodes")
	}
	if chunk, size := place(i); n.chunks[chunk] == nil {
		n.chunks[chunk] = &aligned[Node](int(size))[0]
	}
	n.length++
	return i
}

// aligned returns n elements that start at a cache line. T holds no pointers and
// is a line long.
func aligned[T Node | bucket](n int) []T {
	s := make([]T, n+1)
	skip := -uintptr(unsafe.Pointer(&s[0])) % line
	return unsafe.Slice((*T)(unsafe.Add(unsafe.Pointer(&s[0]), skip)), n)
}

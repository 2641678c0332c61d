// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
)

// A larder holds the nodes that others may steal: of a worker's, those nearest to the root, whose
// branches are the largest. The worker fills it; whoever answers thieves takes from it.
type larder struct {
	mutex   sync.Mutex
	nodes   []node
	full    atomic.Bool
	balance atomic.Int64 // messages with nodes sent, less those received
}

// offer puts the oldest nodes of a stack into an empty larder, if the stack has plenty.
func (l *larder) offer(stack []node, chunk int) []node {
	if len(stack) < 2*chunk || l.full.Load() {
		return stack
	}
	l.mutex.Lock()
	l.nodes = append(l.nodes, stack[:chunk]...)
	l.full.Store(true)
	l.mutex.Unlock()
	return stack[:copy(stack, stack[chunk:])]
}

// takeBack appends what is in the larder to the stack.
func (l *larder) takeBack(stack []node) []node {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	stack = append(stack, l.nodes...)
	l.nodes = l.nodes[:0]
	l.full.Store(false)
	return stack
}

// steal takes what is in the larder for a thief, as a message, which is empty if there is nothing.
func (l *larder) steal(message []byte) []byte {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for _, n := range l.nodes {
		message = append(message, n.state[:]...)
		message = binary.LittleEndian.AppendUint32(message, n.depth)
	}
	if len(l.nodes) > 0 {
		l.balance.Add(1) // with the taking: see ring
	}
	l.nodes = l.nodes[:0]
	l.full.Store(false)
	return message
}

const nodeBytes = len(node{}.state) + 4

// unpack appends the nodes of a message to the stack.
func unpack(stack []node, message []byte) []node {
	for ; len(message) > 0; message = message[nodeBytes:] {
		var n node
		n.depth = binary.LittleEndian.Uint32(message[copy(n.state[:], message):])
		stack = append(stack, n)
	}
	return stack
}

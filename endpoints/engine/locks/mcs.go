// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package locks

import "sync/atomic"

// What the state of a Node or Entry tells its thread. At rest it is waiting.
const (
	waiting  uint32 = iota
	granted         // the lock is yours
	climb           // HMCS: the leaf is yours, the root is not
	executed        // CSync: your operation was done for you
)

// Node is a thread's place in the queue of a lock: one cache line, which its
// thread waits on alone.
type Node struct {
	next  atomic.Pointer[Node] // written by the thread that follows
	state atomic.Uint32        // written by the thread before
	_     [52]byte
}

// MCS is the queue lock of Mellor-Crummey and Scott (1991): first come, first
// served, and each thread waits on its own cache line. Free is nil.
type MCS struct{ tail atomic.Pointer[Node] }

// Acquire takes the lock, in the order of calls.
func (l *MCS) Acquire(n *Node) {
	if before := l.swap(n); before != nil {
		before.link(n)
		await(&n.state)
	}
}

// Try takes the lock if it is free.
func (l *MCS) Try(n *Node) bool {
	return l.tail.Load() == nil && l.tail.CompareAndSwap(nil, n)
}

// Release hands the lock to the thread that has waited longest. n is at rest again.
func (l *MCS) Release(n *Node) { l.release(n, granted) }

// swap is the first half of queueing: it settles the order. It returns the Node
// before n, nil if there is none and n holds the lock.
func (l *MCS) swap(n *Node) *Node { return l.tail.Swap(n) }

// link is the second half: n shows the next Node, after, where it is.
func (n *Node) link(after *Node) { n.next.Store(after) }

// release tells the next thread what, or frees the lock if there is none.
func (l *MCS) release(n *Node, what uint32) {
	next := n.next.Load()
	if next == nil {
		if l.tail.CompareAndSwap(n, nil) {
			return
		}
		next = linked(&n.next)
	}
	n.next.Store(nil) // before the grant: then n has left the queue
	next.state.Store(what)
}

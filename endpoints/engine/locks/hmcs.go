// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package locks

// passes is how often in a row threads of one domain hand an HMCS lock on among
// themselves while another domain waits. High, for a pass between domains moves
// all that the lock guards; yet every thread waits a bounded number of holders.
const passes = 64

// HMCS is the hierarchical queue lock of Chabbi, Fagan and Mellor-Crummey (2015)
// in two levels. Threads of a domain, such as a NUMA node, queue at its leaf; the
// first of each leaf queues at the root. A holder passes the lock to its own leaf
// first, so what the lock guards stays in near caches.
type HMCS struct {
	root   MCS
	leaves []leaf
}

// leaf is a domain: two cache lines.
type leaf struct {
	local  MCS
	passed uint32 // since the leaf got the root; written by the holder
	_      [52]byte
	node   Node // the leaf's place in the queue of the root
}

// NewHMCS makes a lock for threads of so many domains.
func NewHMCS(domains int) *HMCS { return &HMCS{leaves: make([]leaf, domains)} }

// Domains returns for how many the lock was made.
func (l *HMCS) Domains() int { return len(l.leaves) }

// Acquire takes the lock for a thread of a domain.
func (l *HMCS) Acquire(n *Node, domain int) {
	f := &l.leaves[domain]
	if before := f.local.swap(n); before != nil {
		before.link(n)
		if await(&n.state) == granted {
			return
		}
	}
	l.root.Acquire(&f.node)
	f.passed = 0
}

// Release passes the lock on: within the domain, if it is not another's turn.
func (l *HMCS) Release(n *Node, domain int) {
	f := &l.leaves[domain]
	if f.passed < passes && n.next.Load() != nil {
		f.passed++
		f.local.release(n, granted)
		return
	}
	l.root.Release(&f.node)
	f.local.release(n, climb)
}

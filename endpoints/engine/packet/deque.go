// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package packet

import "github.com/tpsl/tpsl/endpoints/engine/locks"

const (
	line  = 64 // bytes of a cache line
	depth = 60 // packets that a deque holds: with 16 bytes more, it is four lines
)

// A deque is a worker's private pool, on cache lines of its own. The worker takes at
// the top; others steal at the bottom.
type deque struct {
	lock   locks.Flag
	puts   uint32        // how many packets were ever put in
	bottom uint32        // slot of the packet that has been here longest
	n      uint32        // packets here
	slots  [depth]uint32 // a ring
}

// push puts a packet on top. Preconditions: the lock is held, and there is room.
func (d *deque) push(i uint32) {
	d.slots[(d.bottom+d.n)%depth] = i
	d.n++
	d.puts++
}

// pull takes the packet at the bottom, or None. Preconditions: the lock is held.
func (d *deque) pull() uint32 {
	if d.n == 0 {
		return None
	}
	i := d.slots[d.bottom]
	d.bottom = (d.bottom + 1) % depth
	d.n--
	return i
}

// popTop takes the packet that was put in last, or None.
func (d *deque) popTop() uint32 {
	d.lock.Acquire()
	i := None
	if d.n != 0 {
		d.n--
		i = d.slots[(d.bottom+d.n)%depth]
	}
	d.lock.Release()
	return i
}

// popBottom takes the packet that has been here longest, or None, and tells how many
// were ever put in.
func (d *deque) popBottom() (i, puts uint32) {
	d.lock.Acquire()
	i, puts = d.pull(), d.puts
	d.lock.Release()
	return i, puts
}

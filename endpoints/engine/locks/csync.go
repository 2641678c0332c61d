// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package locks

import "sync/atomic"

// Entry is a place in a queue of operations on T: CSync's or Queue's. It fills a
// cache line.
type Entry[T any] struct {
	next  atomic.Pointer[Entry[T]] // written by the thread that follows
	Item  *T                       // the operation; nil: its thread wants the lock alone
	state atomic.Uint32            // CSync: written by the thread before
	_     [44]byte
}

// MaxCombine is how many operations a thread does for all before another thread
// takes over, so that each call is bounded.
const MaxCombine = 1024

// CSync is a lock whose holder does the operations of those that queue behind
// it: DSM-Synch of Fatourou and Kallimanis (2012), with a plain acquire beside it
// as in Amer et al. (2019). Do and Acquire make a holder; the holder then does
//
//	for e = c.Next(e); e != nil; e = c.Next(e) {
//		// do *e.Item
//	}
//
// and has released the lock when Next returns nil.
type CSync[T any] struct {
	tail   atomic.Pointer[Entry[T]]
	own    *Entry[T] // the holder's
	done   uint32    // operations by this holder
	_      [44]byte
	single MCS // who wants the lock alone holds this: at most one such Entry is queued
	_      [56]byte
}

// Do queues an operation. True: the caller is the holder, does the operation
// itself and then those that Next gives it. False: another holder has done it.
func (c *CSync[T]) Do(e *Entry[T], item *T) (holder bool) {
	e.Item = item
	return c.enter(e)
}

// Acquire takes the lock to do what is no operation of a T. n and e are the
// caller's until Release.
func (c *CSync[T]) Acquire(n *Node, e *Entry[T]) {
	c.single.Acquire(n)
	e.Item = nil
	c.enter(e)
}

// Try is Acquire if the lock is free, and else does nothing.
func (c *CSync[T]) Try(n *Node, e *Entry[T]) bool {
	if c.tail.Load() != nil || !c.single.Try(n) {
		return false
	}
	e.Item = nil
	if !c.tail.CompareAndSwap(nil, e) {
		c.single.Release(n)
		return false
	}
	c.take(e)
	return true
}

// Release ends what Acquire began, after Next has returned nil.
func (c *CSync[T]) Release(n *Node) { c.single.Release(n) }

// enter queues e and waits; true: the caller is the holder.
func (c *CSync[T]) enter(e *Entry[T]) bool {
	if before := c.swap(e); before != nil {
		before.link(e)
		if await(&e.state) == executed {
			return false
		}
	}
	c.take(e)
	return true
}

// take makes e's thread the holder that it has become.
func (c *CSync[T]) take(e *Entry[T]) { c.own, c.done = e, 1 }

// Next ends with e and returns the Entry that the holder is to do next. nil: the
// lock was handed on, or freed, and is no longer the caller's.
func (c *CSync[T]) Next(e *Entry[T]) *Entry[T] {
	own := c.own // the next holder's from the end of this call on
	next := c.detach(e)
	if next == nil {
		e.finish(own)
		return nil
	}
	return c.pass(e, next, own)
}

// detach takes e, the first, out of the queue, so that e is at rest, and returns
// what follows. nil: nothing did, and the lock is free.
func (c *CSync[T]) detach(e *Entry[T]) *Entry[T] {
	next := e.next.Load()
	if next == nil {
		if c.tail.CompareAndSwap(e, nil) {
			return nil
		}
		next = linked(&e.next)
	}
	e.next.Store(nil)
	return next
}

// pass goes on to next if it is an operation and not one too many, else hands it
// the lock. It leaves e.next alone: from finish on e may be in the queue again.
func (c *CSync[T]) pass(e, next, own *Entry[T]) *Entry[T] {
	if next.Item == nil || c.done >= MaxCombine {
		next.state.Store(granted)
		next = nil
	} else {
		c.done++
	}
	e.finish(own)
	return next
}

// finish lets e's thread go. Nobody touches e from here on: its thread may queue
// with it again at once.
func (e *Entry[T]) finish(own *Entry[T]) {
	if e != own {
		e.state.Store(executed)
	}
}

// swap and link are the halves of queueing, as for a Node.
func (c *CSync[T]) swap(e *Entry[T]) *Entry[T] { return c.tail.Swap(e) }

func (e *Entry[T]) link(after *Entry[T]) { e.next.Store(after) }

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package locks

import "sync/atomic"

// Queue is the SWP queue of Amer et al. (2019): any thread puts, the holder of a
// lock takes. Put is an exchange and a store, so it ends in a bounded number of
// steps whatever others do. Between the two its item and all later ones are
// hidden: Take finds nothing though the queue is not Empty. None is lost, and items come
// in the order of the exchanges.
type Queue[T any] struct {
	tail atomic.Pointer[Entry[T]] // the last Entry put
	_    [56]byte
	head *Entry[T] // the consumer's: its Item is taken, its next is the first to take
	_    [56]byte
}

// Init makes the queue empty. The queue keeps e: it has an Entry even when it is empty.
func (q *Queue[T]) Init(e *Entry[T]) {
	q.head = e
	q.tail.Store(e)
}

// Put leaves item for the consumer. The queue keeps e; Take returns another.
func (q *Queue[T]) Put(e *Entry[T], item *T) {
	e.Item = item
	q.swap(e).link(e)
}

// swap is the first half of Put and settles the order; link is the second and
// lets the consumer see.
func (q *Queue[T]) swap(e *Entry[T]) *Entry[T] { return q.tail.Swap(e) }

// Take returns the oldest item, and an Entry at rest in place of the one that it
// was put with. Both are nil if there is none to be seen.
func (q *Queue[T]) Take() (*T, *Entry[T]) {
	free := q.head
	first := free.next.Load()
	if first == nil {
		return nil, nil
	}
	item := first.Item
	first.Item = nil // or a queue at rest would keep the item alive
	q.head = first
	free.next.Store(nil)
	return item, free
}

// Empty tells the consumer that nothing was put that it has not taken, hidden
// items included. Who may take an item must not overtake those it cannot see yet.
func (q *Queue[T]) Empty() bool { return q.tail.Load() == q.head }

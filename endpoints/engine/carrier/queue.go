// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"sync"
	"sync/atomic"
)

// A Queue is first in, first out: what a port is to find by Poll. Any thread puts it in, the port takes it out.
type Queue[T any] struct {
	lock  sync.Mutex
	list  []T
	next  int
	count atomic.Int32 // of those in the list: spares a port that polls the lock
}

// Put puts one in.
func (q *Queue[T]) Put(e T) {
	q.lock.Lock()
	if q.next > len(q.list)/2 && len(q.list) == cap(q.list) {
		q.list, q.next = q.list[:copy(q.list, q.list[q.next:])], 0 // instead of growing
	}
	q.list = append(q.list, e)
	q.count.Add(1)
	q.lock.Unlock()
}

// Take takes the first one out, if there is one.
func (q *Queue[T]) Take() (e T, found bool) {
	if q.count.Load() == 0 {
		return e, false
	}
	var none T
	q.lock.Lock()
	e = q.list[q.next]
	q.list[q.next] = none // it may lead to memory
	if q.next++; q.next == len(q.list) {
		q.list, q.next = q.list[:0], 0
	}
	q.count.Add(-1)
	q.lock.Unlock()
	return e, true
}

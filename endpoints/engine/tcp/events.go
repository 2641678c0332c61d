// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"sync"
	"sync/atomic"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
)

// An event is what a port is to find by Poll.
type event struct {
	kind   carrier.Kind
	lost   bool
	handle uint64
	peer   int // Gone: the process

	cell    uint32 // Arrived: the kind of the cell
	header  header
	words   [3]uint64 // Offer
	inline  [40]byte  // Inline
	payload []byte    // Kept
}

// events are first in, first out. Any thread puts them in, the port takes them out.
type events struct {
	lock  sync.Mutex
	list  []event
	next  int
	count atomic.Int32 // of those in the list: spares a port that polls the lock
}

func (q *events) put(e event) {
	q.lock.Lock()
	if q.next > len(q.list)/2 && len(q.list) == cap(q.list) {
		q.list, q.next = q.list[:copy(q.list, q.list[q.next:])], 0 // instead of growing
	}
	q.list = append(q.list, e)
	q.count.Add(1)
	q.lock.Unlock()
}

func (q *events) take() (e event, found bool) {
	if q.count.Load() == 0 {
		return e, false
	}
	q.lock.Lock()
	e = q.list[q.next]
	q.list[q.next].payload = nil
	if q.next++; q.next == len(q.list) {
		q.list, q.next = q.list[:0], 0
	}
	q.count.Add(-1)
	q.lock.Unlock()
	return e, true
}

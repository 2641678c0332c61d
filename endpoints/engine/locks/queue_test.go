// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package locks

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newQueue() *Queue[op] {
	q := new(Queue[op])
	q.Init(new(Entry[op]))
	return q
}

// A producer that stands still between its two stores hides its item and those
// behind it; they come, in the order of the exchanges, once it goes on.
func TestQueueStalledProducer(t *testing.T) {
	q := newQueue()
	var a, b, c Entry[op]
	q.Put(&a, &op{thread: 0})
	b.Item = &op{thread: 1}
	before := q.swap(&b) // and stands still
	q.Put(&c, &op{thread: 2})

	item, _ := q.Take()
	require.NotNil(t, item)
	assert.Equal(t, 0, item.thread)
	item, _ = q.Take()
	assert.Nil(t, item, "the rest is hidden")
	assert.False(t, q.Empty(), "and known to be there")
	before.link(&b)
	for want := 1; want <= 2; want++ {
		item, _ = q.Take()
		require.NotNil(t, item)
		assert.Equal(t, want, item.thread)
	}
	assert.True(t, q.Empty())
}

// Items come in the order of the exchanges, whatever the order of the links.
func TestQueueTotalOrder(t *testing.T) {
	q := newQueue()
	entries := make([]Entry[op], 6)
	var before []*Entry[op]
	for i := range entries {
		entries[i].Item = &op{seq: i}
		before = append(before, q.swap(&entries[i]))
	}
	for i := len(entries) - 1; i >= 0; i-- {
		item, _ := q.Take()
		require.Nil(t, item, "the first is not linked")
		before[i].link(&entries[i])
	}
	for i := range entries {
		item, _ := q.Take()
		require.NotNil(t, item)
		assert.Equal(t, i, item.seq)
	}
}

// The Entry that Take returns is at rest, is nobody else's, and goes round.
func TestQueueGivesEntriesBack(t *testing.T) {
	first, put := new(Entry[op]), new(Entry[op])
	q := new(Queue[op])
	q.Init(first)
	for range 10 {
		q.Put(put, &op{})
		item, free := q.Take()
		require.NotNil(t, item)
		require.Same(t, first, free)
		atRest(t, free)
		first, put = put, free
	}
}

// With producers more than CPUs and one consumer at a time, each item comes once,
// in its producer's order.
func TestQueueStress(t *testing.T) {
	const producers, items = 8, 5000
	q := newQueue()
	var flag Flag
	var next [producers]int // guarded by flag
	var left atomic.Int64
	left.Store(producers * items)
	take := func() {
		if !flag.Try() {
			return
		}
		for item, _ := q.Take(); item != nil; item, _ = q.Take() {
			assert.Equal(t, next[item.thread], item.seq)
			next[item.thread]++
			left.Add(-1)
		}
		flag.Release()
	}
	crowd(producers, func(thread int) {
		for i := range items {
			q.Put(new(Entry[op]), &op{thread, i})
			take()
		}
	})
	for i := 0; left.Load() > 0; i++ {
		require.Less(t, i, 1, "all producers have ended: one look finds everything")
		take()
	}
	assert.True(t, q.Empty())
}

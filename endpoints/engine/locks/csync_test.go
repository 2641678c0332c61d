// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package locks

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// op is an operation: number seq of a thread.
type op struct{ thread, seq int }

// A holder does all that queued behind it, in order, in one acquisition.
func TestCSyncCombines(t *testing.T) {
	const others = 6
	var c CSync[op]
	var own Entry[op]
	require.True(t, c.Do(&own, &op{thread: -1}))
	entries := make([]Entry[op], others)
	var all sync.WaitGroup
	last := &own
	for i := range entries {
		all.Go(func() { assert.False(t, c.Do(&entries[i], &op{thread: i})) })
		until(t, "link", func() bool { return last.next.Load() != nil })
		last = &entries[i]
	}
	var did []int
	for e := c.Next(&own); e != nil; e = c.Next(e) {
		did = append(did, e.Item.thread)
	}
	all.Wait()
	assert.Equal(t, []int{0, 1, 2, 3, 4, 5}, did, "operations of one acquisition")
	assert.Nil(t, c.tail.Load(), "free")
}

// A holder stops at MaxCombine operations; the next one's thread takes over.
func TestCSyncMaxCombine(t *testing.T) {
	var c CSync[op]
	e := make([]Entry[op], MaxCombine+2)
	require.True(t, c.Do(&e[0], &op{}))
	for i := range e[1:] {
		e[i+1].Item = &op{seq: i + 1}
		c.swap(&e[i+1]).link(&e[i+1])
	}
	done := 1
	for at := c.Next(&e[0]); at != nil; at = c.Next(at) {
		require.Equal(t, done, at.Item.seq)
		done++
	}
	assert.Equal(t, MaxCombine, done)
	assert.Equal(t, executed, e[MaxCombine-1].state.Load())
	assert.Equal(t, granted, e[MaxCombine].state.Load())
	assert.Equal(t, waiting, e[MaxCombine+1].state.Load())
}

// A holder stops before a thread that wants the lock alone, and hands it over.
func TestCSyncHandsOverToAcquire(t *testing.T) {
	var c CSync[op]
	var own, alone, behind Entry[op]
	require.True(t, c.Do(&own, &op{}))
	c.swap(&alone).link(&alone) // Acquire's, whose Item is nil
	behind.Item = &op{seq: 7}
	c.swap(&behind).link(&behind)

	assert.Nil(t, c.Next(&own))
	assert.Equal(t, granted, await(&alone.state))
	assert.Equal(t, waiting, behind.state.Load())
	c.take(&alone) // as Acquire goes on
	next := c.Next(&alone)
	require.Same(t, &behind, next, "the new holder does what queued behind it")
	assert.Nil(t, c.Next(next))
	assert.Equal(t, executed, behind.state.Load())
}

// An Entry is at rest before its thread hears of it, for the thread may queue with
// it again at once; what then follows it in the queue must not be lost.
func TestCSyncEntryUsedAgainAtOnce(t *testing.T) {
	for name, item := range map[string]*op{"handed on": nil, "combined": {}} {
		var c CSync[op]
		var own, e, next, later Entry[op]
		c.take(&own)
		e.link(&next)
		next.Item = item
		require.Same(t, &next, c.detach(&e))
		atRest(t, &e)
		e.link(&later) // as if its thread had queued again, and another behind it
		c.pass(&e, &next, &own)
		assert.Same(t, &later, e.next.Load(), name)
		assert.Equal(t, executed, e.state.Load(), name)
		atRest(t, &own.state)
	}
}

// Of threads that want the lock alone, at most one is in the queue.
func TestCSyncOneAlone(t *testing.T) {
	const alone, offers = 4, 4
	var c CSync[op]
	var own Entry[op]
	require.True(t, c.Do(&own, &op{}))
	nodes, entries := make([]Node, alone), make([]Entry[op], alone+offers)
	var all sync.WaitGroup
	for i := range nodes {
		before := c.single.tail.Load()
		all.Go(func() {
			c.Acquire(&nodes[i], &entries[i])
			for e := c.Next(&entries[i]); e != nil; e = c.Next(e) {
				assert.NotNil(t, e.Item)
			}
			c.Release(&nodes[i])
		})
		until(t, "thread that wants the lock alone", func() bool { return c.single.tail.Load() != before })
	}
	for i := range offers {
		all.Go(func() {
			e := &entries[alone+i]
			for holder := c.Do(e, &op{}); holder && e != nil; e = c.Next(e) {
				assert.NotNil(t, e.Item)
			}
		})
	}
	until(t, "full queue", func() bool { return length(&own) == 1+1+offers })
	assert.Equal(t, 1, nils(&own), "entries that want the lock alone")
	for e := c.Next(&own); e != nil; e = c.Next(e) {
		assert.NotNil(t, e.Item)
	}
	all.Wait()
}

// length and nils look at what is visible of the queue from e on.
func length[T any](e *Entry[T]) (n int) {
	for ; e != nil; e = e.next.Load() {
		n++
	}
	return n
}

func nils[T any](e *Entry[T]) (n int) {
	for ; e != nil; e = e.next.Load() {
		if e.Item == nil {
			n++
		}
	}
	return n
}

// Under load from more threads than CPUs that use their Entry again at once, each
// operation is done once, in its thread's order, and the queue never has two
// threads that want the lock alone.
func TestCSyncStress(t *testing.T) {
	const threads, turns = 8, 3000
	var c CSync[op]
	var next [threads]int // guarded by c
	crowd(threads, func(thread int) {
		var n Node
		var e Entry[op]
		for i := range turns {
			if i%8 == 7 {
				c.Acquire(&n, &e)
				assert.LessOrEqual(t, nils(&e), 1)
				next[thread]++
				finish(t, &c, &e, &next)
				c.Release(&n)
				continue
			}
			if c.Do(&e, &op{thread, i}) {
				execute(t, e.Item, &next)
				finish(t, &c, &e, &next)
			}
		}
	})
	for thread, n := range next {
		assert.Equal(t, turns, n, "operations of thread %d", thread)
	}
}

func finish(t *testing.T, c *CSync[op], e *Entry[op], next *[8]int) {
	for e = c.Next(e); e != nil; e = c.Next(e) {
		execute(t, e.Item, next)
	}
}

func execute(t *testing.T, o *op, next *[8]int) {
	assert.Equal(t, next[o.thread], o.seq, "thread %d", o.thread)
	next[o.thread]++
}

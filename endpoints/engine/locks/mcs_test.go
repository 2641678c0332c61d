// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package locks

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Threads get the lock in the order of their exchanges, whatever the order in
// which they become visible.
func TestMCSIsFair(t *testing.T) {
	var l MCS
	n := make([]Node, 5)
	var before []*Node
	for i := range n {
		before = append(before, l.swap(&n[i]))
	}
	require.Nil(t, before[0], "the first has the lock")
	for i := len(n) - 1; i > 0; i-- {
		before[i].link(&n[i])
	}
	for i := range n[1:] {
		l.Release(&n[i])
		for j := i + 1; j < len(n); j++ {
			assert.Equal(t, j == i+1, n[j].state.Load() == granted, "node %d after release %d", j, i)
		}
		assert.Equal(t, granted, await(&n[i+1].state))
	}
	l.Release(&n[4])
	assert.Nil(t, l.tail.Load(), "free")
}

// A thread that stands still between the halves of queueing gets the lock once it
// goes on; the holder cannot free the lock under it.
func TestMCSReleaseWaitsForLink(t *testing.T) {
	var l MCS
	var a, b Node
	l.Acquire(&a)
	before := l.swap(&b)
	require.Same(t, &a, before)
	released := make(chan bool)
	go func() { l.Release(&a); close(released) }()
	for range 100 {
		time.Sleep(10 * time.Microsecond)
		require.Same(t, &b, l.tail.Load(), "the lock is taken")
		require.Equal(t, waiting, b.state.Load())
	}
	before.link(&b)
	<-released
	require.Equal(t, granted, await(&b.state))
	atRest(t, &a)
	l.Release(&b)
}

func TestMCSTry(t *testing.T) {
	var l MCS
	var a, b Node
	require.True(t, l.Try(&a))
	assert.False(t, l.Try(&b), "held")
	atRest(t, &b)
	l.Release(&a)
	assert.True(t, l.Try(&b))
}

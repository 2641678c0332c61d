// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package locks

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A domain passes the lock on within itself a bounded number of times while
// another waits. Then the other has it, and the rest of the first queue at the root.
func TestHMCSPassesToOtherDomain(t *testing.T) {
	l := NewHMCS(2)
	near, far := &l.leaves[0], &l.leaves[1]
	n := make([]Node, passes+3)
	l.Acquire(&n[0], 0)
	for i := range n[1:] {
		near.local.swap(&n[i+1]).link(&n[i+1])
	}
	var other Node
	require.Nil(t, far.local.swap(&other))
	l.root.swap(&far.node).link(&far.node)

	for i := range passes {
		l.Release(&n[i], 0)
		require.Equal(t, granted, await(&n[i+1].state), "pass %d", i)
		require.Equal(t, waiting, far.node.state.Load(), "pass %d", i)
	}
	l.Release(&n[passes], 0)
	assert.Equal(t, granted, await(&far.node.state), "the other domain's turn")
	assert.Equal(t, climb, await(&n[passes+1].state), "the next of the leaf goes to the root")
	assert.Equal(t, waiting, n[passes+2].state.Load())
}

// With nobody in its leaf, the holder gives the root away at once.
func TestHMCSEmptyLeaf(t *testing.T) {
	l := NewHMCS(2)
	var a, b Node
	l.Acquire(&a, 0)
	require.Nil(t, l.leaves[1].local.swap(&b))
	l.root.swap(&l.leaves[1].node).link(&l.leaves[1].node)
	l.Release(&a, 0)
	assert.Equal(t, granted, await(&l.leaves[1].node.state))
	assert.Nil(t, l.leaves[0].local.tail.Load())
	l.Release(&b, 1)
	assert.Nil(t, l.root.tail.Load(), "free")
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/examples/engine/internal/crew"
)

// members are workers that one thread drives.
func members(t *testing.T, count int) (all []*worker) {
	f, err := engine.New(engine.Options{Ports: count})
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	for rank := range count {
		w := &worker{m: &crew.Member{Port: f.Port(rank), Rank: rank, Size: count}}
		require.NoError(t, w.join())
		all = append(all, w)
	}
	return all
}

// visit lets the token come to a passive worker and go on.
func visit(t *testing.T, w *worker) (ended bool) {
	ended, err := w.hear()
	require.NoError(t, err)
	if !ended {
		ended, err = w.turn()
		require.NoError(t, err)
	}
	return ended
}

// Nodes that go to one whom the token has passed, from one whom it has not, keep all from being over.
func TestRing(t *testing.T) {
	w := members(t, 3)
	round := func() bool {
		require.False(t, visit(t, w[1]))
		require.False(t, visit(t, w[2]))
		return visit(t, w[0])
	}
	require.False(t, visit(t, w[0]), "the first round only starts")

	require.False(t, visit(t, w[1]))
	w[2].balance.Add(1) // 2 gives nodes to 1
	w[1].balance.Add(-1)
	w[1].black = true
	require.False(t, visit(t, w[2]))
	require.False(t, visit(t, w[0]), "one message more was sent than received")
	require.False(t, round(), "a rank has received since")
	w[0].black = true
	require.False(t, round(), "rank 0 has")
	require.True(t, round())
	assert.True(t, visit(t, w[1]))
	assert.True(t, visit(t, w[2]))
}

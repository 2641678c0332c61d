// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNamesAwait(t *testing.T) {
	var n Names
	var got []string
	await := func(who string, limit time.Duration) {
		n.Await("svc", limit, func(port string, _ error) { got = append(got, who+port) })
	}
	await("a ", time.Hour)
	await("b ", time.Hour)
	require.Empty(t, got)
	require.NoError(t, n.Publish("svc", "1", true))
	require.Equal(t, []string{"a 1"}, got, "for the first alone")
	_, err := n.Lookup("svc")
	require.ErrorIs(t, err, ErrNotPublished)
	await("c ", time.Hour)
	require.NoError(t, n.Publish("svc", "2", false))
	await("d ", time.Hour)
	assert.Equal(t, []string{"a 1", "b 2", "c 2", "d 2"}, got)
	require.ErrorIs(t, n.Publish("svc", "3", false), ErrPublished)

	late := make(chan error)
	n.Await("other", time.Millisecond, func(_ string, err error) { late <- err })
	require.ErrorIs(t, <-late, ErrNotPublished)
	require.NoError(t, n.Publish("other", "4", true))
	port, err := n.Lookup("other")
	require.NoError(t, err, "nobody has taken it")
	assert.Equal(t, "4", port)
}

// A rank that publishes without end is refused, and what is taken back makes room.
func TestNamesFull(t *testing.T) {
	var n Names
	port := strings.Repeat("p", 1<<20)
	count := 0
	for ; n.Publish(strconv.Itoa(count), port, count == 0) == nil; count++ {
		require.Less(t, count, 2*maxNames/len(port), "no end of names")
	}
	assert.Equal(t, maxNames/len(port)-1, count)
	_, err := n.Lookup("0")
	require.NoError(t, err, "it goes with its first lookup")
	require.NoError(t, n.Publish("more", port, false))
	require.ErrorIs(t, n.Publish("still more", port, false), errNamesFull)
	require.NoError(t, n.Unpublish("1"))
	assert.NoError(t, n.Publish("still more", port, false))
}

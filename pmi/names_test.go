// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
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

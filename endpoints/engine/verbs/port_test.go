// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package verbs

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// sizes has every way that a message may go, and the borders between them.
var sizes = []int{0, 1, 8, 39, 40, 41, 1000, 8<<10 - 1, 8 << 10, 8<<10 + 1, 100_000, 3<<20 + 1}

func TestEverySize(t *testing.T) {
	testsupport.NothingLeft(t)
	a, b := pair(t, Options{})
	for i, size := range sizes {
		buf := filled(size, i)
		outcome := mustSend(t, a, 1, int32(i), buf, uint64(1000+i))
		assert.Equal(t, size <= 8<<10, outcome == carrier.Done, "%d bytes", size)

		m := await(t, b)
		require.Equal(t, carrier.Arrived, m.Kind)
		require.Equal(t, []int{7, 0, i, size}, []int{int(m.Cell.Context), int(m.Cell.Source), int(m.Cell.Tag), carrier.Bytes(&m.Cell)}, "%d bytes", size)
		take(t, a, b, &m.Cell, size, outcome, buf, uint64(1000+i))
	}
}

// take has b fetch a message with room for some bytes of it, moves a on meanwhile,
// and looks at what both are told.
func take(t *testing.T, a, b *Port, c *ring.Cell, room int, outcome carrier.Outcome, buf []byte, handle uint64) {
	t.Helper()
	dst := make([]byte, room+8)
	done, err := b.Fetch(c, dst[:room], 55)
	require.NoError(t, err)
	told := make(chan *carrier.Event, 1)
	go func() {
		if outcome == carrier.Pending {
			told <- await(t, a)
		}
		close(told)
	}()
	if !done {
		m := await(t, b)
		require.Equal(t, carrier.Received, m.Kind)
		require.EqualValues(t, 55, m.Handle)
		require.False(t, m.Lost)
	}
	if end, ok := <-told; ok {
		require.Equal(t, carrier.Sent, end.Kind)
		require.Equal(t, handle, end.Handle)
		require.False(t, end.Lost)
	}
	copied := min(room, len(buf))
	require.Equal(t, buf[:copied], dst[:copied])
	require.Equal(t, make([]byte, len(dst)-copied), dst[copied:], "the rest of the buffer")
}

// A buffer that is too short gets what it has room for, and one that is too long what there is; how long the message was is
// known before. The sender is told all the same.
func TestTruncation(t *testing.T) {
	a, b := pair(t, Options{})
	for i, size := range sizes {
		for _, room := range []int{0, 1, size / 2, size + 5} {
			buf := filled(size, i)
			outcome := mustSend(t, a, 1, 0, buf, 9)
			m := await(t, b)
			require.Equal(t, size, carrier.Bytes(&m.Cell))
			take(t, a, b, &m.Cell, room, outcome, buf, 9)
		}
	}
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
)

// A peer ends right after its last message, as the port looks at its track because
// some other peer is going: the message is not lost.
func TestLastMessageOfTheEnded(t *testing.T) {
	a, b := pair(t, Options{})
	fate, turn := &b.node.peers[0].fate, make(chan bool)
	go func() {
		for range turn {
			_, _ = a.Send(1, 0, 0, nil, 0)
			fate.Store(ended)
		}
	}()
	defer close(turn)
	for i := range 5_000 {
		b.gone[0], b.dying = false, 1
		turn <- true
		var e carrier.Event
		for !b.Poll(&e) {
		}
		require.Equal(t, carrier.Arrived, e.Kind, "round %d", i)
		for !b.Poll(&e) {
		}
		require.Equal(t, carrier.Gone, e.Kind)
		fate.Store(fine)
	}
}

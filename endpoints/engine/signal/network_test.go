// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package signal

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// All send to all at once, over few buffers, and everything comes, once, in order and unchanged.
func TestAllToAll(t *testing.T) {
	const each = 6
	for name, make := range makers {
		for _, size := range []int{1, 2, 5, 12} {
			for dimensions := 1; dimensions <= MaxDimensions; dimensions++ {
				t.Run(fmt.Sprintf("%s/%d/%dD", name, size, dimensions), func(t *testing.T) {
					testsupport.NothingLeft(t)
					torus := torus(t, size, dimensions)
					tallies := forEach(size, func(rank int) *tally { return newTally(t, rank, size*each) })
					all := joined(t, make, torus, func(rank int) Options {
						return Options{Buffers: 1, Message: tallies[rank].message}
					})
					together(t, size, func(from int) error {
						for i := range each {
							for k := range size {
								to := (from + k) % size
								if err := all[from].Send(to, uint32(i), text(from, to, i)); err != nil {
									return err
								}
							}
						}
						return tallies[from].wait()
					})
				})
			}
		}
	}
}

func forEach[T any](count int, f func(i int) T) (all []T) {
	for i := range count {
		all = append(all, f(i))
	}
	return all
}

func TestSendRefuses(t *testing.T) {
	testsupport.NothingLeft(t)
	n := joined(t, overShm, torus(t, 2, 3), func(int) Options { return Options{} })[0]
	assert.EqualError(t, n.Send(2, 0, nil), "send a signal to rank 2 of 2")
	assert.EqualError(t, n.Send(-1, 0, nil), "send a signal to rank -1 of 2")
	assert.EqualError(t, n.Send(1, 0, make([]byte, MaxPayload+1)), "send a signal of 1025 bytes: take 1024 at most")
	require.NoError(t, n.Close())
	assert.Error(t, n.Send(1, 0, nil))
}

// A carrier without room rings nobody when it has some again: the network tries again of its own accord.
func TestTriesAgain(t *testing.T) {
	testsupport.NothingLeft(t)
	carriers, _ := overShm(t, torus(t, 2, 1), nil)
	n := join(t, []carrier.Carrier{carriers[0], nil}, torus(t, 2, 1), func(int) Options { return Options{Buffers: 8} })[0]
	for range 8 { // into a ring of 2
		require.NoError(t, n.Send(1, 0, nil))
	}
	count, e := 0, new(carrier.Event)
	require.Eventually(t, func() bool {
		for carriers[1].Port(1).Poll(e) {
			count++
		}
		return count == 8
	}, carriertest.Within, time.Millisecond)
}

// A neighbour that takes nothing more takes no credits either. That is no message that waits.
func TestCloseLeavesCredits(t *testing.T) {
	testsupport.NothingLeft(t)
	carriers, _ := overShm(t, torus(t, 2, 1), nil)
	came := make(chan Message, 1)
	n := join(t, []carrier.Carrier{carriers[0], nil}, torus(t, 2, 1), func(int) Options {
		return Options{Message: func(m Message) { came <- m }}
	})[0]
	for range 2 { // fill the ring
		require.NoError(t, n.Send(1, 0, nil))
	}
	require.Eventually(t, func() bool { return len(n.own) == 0 }, carriertest.Within, time.Millisecond)
	outcome, err := carriers[1].Port(1).Send(0, frameMessage, 0, newBody(0, 1, 0, nil), 1)
	require.NoError(t, err)
	require.Equal(t, carrier.Done, outcome)
	<-came
	require.NoError(t, n.Close())
	_, words := n.router.holds()
	assert.True(t, words, "the credit went on: the test shows nothing")
}

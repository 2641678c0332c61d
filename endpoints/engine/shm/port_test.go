// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm

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

// sizes has every way that a message may go, and the borders between them.
var sizes = []int{0, 1, 8, 39, 40, 41, 1000, 16<<10 - 1, 16 << 10, 16<<10 + 1, 100_000, 3 << 20}

// Both ways to take large messages are tried everywhere.
func ways(t *testing.T, f func(t *testing.T, o Options)) {
	for _, streams := range []bool{false, true} {
		t.Run(fmt.Sprintf("streams=%v", streams), func(t *testing.T) { f(t, Options{Streams: streams}) })
	}
}

func TestEverySize(t *testing.T) {
	testsupport.NothingLeft(t)
	ways(t, func(t *testing.T, o Options) {
		a, b := pair(t, o)
		assert.Equal(t, !o.Streams, a.node.peers[1].direct.Load(), "the probe of this machine's own memory")
		carriertest.EverySize(t, sender(a), b, 16<<10, sizes)
	})
}

func TestTruncation(t *testing.T) {
	ways(t, func(t *testing.T, o Options) {
		a, b := pair(t, o)
		carriertest.Truncation(t, sender(a), b, sizes)
	})
}

// Messages are taken in an order of the receiver's; those that it has not taken yet
// stay whole, and packets that it keeps are not given to others.
func TestFetchedLater(t *testing.T) {
	ways(t, func(t *testing.T, o Options) {
		a, b := pair(t, o)
		const count = 60 // more than there are packets, less than a track has cells
		var kept []*carrier.Event
		for i := range count {
			outcome := mustSend(t, a, 1, int32(i), carriertest.Filled(500+i, i), 0)
			assert.Equal(t, i < 48, outcome == carrier.Done, "message %d", i)
		}
		for range count {
			kept = append(kept, carriertest.Await(t, b))
		}
		for i := count - 1; i >= 0; i-- {
			require.EqualValues(t, i, kept[i].Cell.Tag, "in the order sent")
			outcome := carrier.Done
			if i >= 48 {
				outcome = carrier.Pending
			}
			carriertest.Take(t, a, b, &kept[i].Cell, 500+i, outcome, carriertest.Filled(500+i, i), 0)
		}
		a.packets.collect()
		assert.Zero(t, a.packets.out, "packets that did not come back")
		assert.Equal(t, ^uint64(0), a.packets.free)
	})
}

// A track that nobody reads is full after so many cells; what was refused may be sent later.
func TestFull(t *testing.T) {
	a, b := pair(t, Options{Cells: 8})
	for i := range 8 {
		outcome, err := a.Send(1, 0, int32(i), nil, 0)
		require.NoError(t, err)
		require.Equal(t, carrier.Done, outcome)
	}
	for _, size := range []int{0, 100, 1 << 20} {
		outcome, err := a.Send(1, 0, 8, make([]byte, size), 0)
		require.NoError(t, err)
		assert.Equal(t, carrier.Full, outcome)
	}
	assert.Zero(t, a.packets.out)
	a.sends.Used(func(uint64, *send) { t.Error("a send that is under way") })
	for i := range 8 {
		m := carriertest.Await(t, b)
		assert.EqualValues(t, i, m.Cell.Tag)
	}
	assert.Equal(t, carrier.Done, mustSend(t, a, 1, 9, nil, 0))
}

// An answer that finds its track full waits for room and is not lost.
func TestAnswersWait(t *testing.T) {
	ways(t, func(t *testing.T, o Options) {
		o.Cells = 4
		a, b := pair(t, o)
		buf := carriertest.Filled(1<<20, 1)
		require.Equal(t, carrier.Pending, mustSend(t, a, 1, 0, buf, 3))
		m := carriertest.Await(t, b)
		for i := range 4 {
			require.Equal(t, carrier.Done, mustSend(t, b, 0, int32(i), nil, 0))
		}
		dst := make([]byte, len(buf))
		done, err := b.Fetch(&m.Cell, dst, 4)
		require.NoError(t, err)
		require.Len(t, b.outbox, 1)
		received := make(chan *carrier.Event, 1)
		go func() {
			if !done {
				received <- carriertest.Await(t, b)
			} else {
				for len(b.outbox) > 0 { // nobody rings when there is room
					since := b.Doze()
					b.Poll(new(carrier.Event))
					if len(b.outbox) > 0 {
						b.Sleep(since, 0)
					}
				}
			}
			close(received)
		}()
		time.Sleep(20 * time.Millisecond) // b sleeps by now
		for i := range 4 {
			m := carriertest.Await(t, a)
			require.EqualValues(t, i, m.Cell.Tag)
		}
		assert.Equal(t, carrier.Sent, carriertest.Await(t, a).Kind)
		if !done {
			assert.Equal(t, carrier.Received, (<-received).Kind)
		}
		<-received
		assert.Equal(t, buf, dst)
	})
}

// Who waits for packets is woken when they come back.
func TestPacketsThatComeBackRing(t *testing.T) {
	a, b := pair(t, Options{Streams: true})
	mustSend(t, a, 1, 0, make([]byte, 1<<20), 0)
	offer := carriertest.Await(t, b)
	_, err := b.Fetch(&offer.Cell, make([]byte, 1<<20), 0)
	require.NoError(t, err)
	for a.packets.out == 0 {
		require.False(t, a.Poll(new(carrier.Event)))
	}
	since := a.Doze()
	require.False(t, b.Poll(new(carrier.Event)), "parts, not yet all")
	assert.NotEqual(t, since>>1, a.bell.Rings())
	a.Rouse()
}

// Who sleeps in a futex is woken by the first message, by Wake, and at the limit.
func TestSleep(t *testing.T) {
	a, b := pair(t, Options{})
	woken := func(wake func()) time.Duration {
		start := time.Now()
		since := b.Doze()
		time.AfterFunc(50*time.Millisecond, wake)
		b.Sleep(since, carriertest.Within)
		return time.Since(start)
	}
	assert.Less(t, woken(func() { mustSend(t, a, 1, 0, nil, 0) }), carriertest.Within/2)
	assert.Less(t, woken(func() { b.bell.Ring() }), carriertest.Within/2)
	times, start := 0, time.Now()
	for ; time.Since(start) < 30*time.Millisecond; times++ { // it may return early: the waking above has perhaps only begun
		b.Sleep(b.Doze(), 30*time.Millisecond)
	}
	assert.Less(t, times, 10)
	assert.Less(t, time.Since(start), carriertest.Within/2)
	since := b.Doze()
	b.bell.Ring()
	start = time.Now()
	b.Sleep(since, carriertest.Within)
	assert.Less(t, time.Since(start), carriertest.Within/2, "the ring came first")
	assert.False(t, b.bell.IsAsleep())
}

// Nothing is allocated per message, whatever its way.
func TestNoAllocation(t *testing.T) {
	ways(t, func(t *testing.T, o Options) {
		a, b := pair(t, o)
		carriertest.AllocatesNothing(t, a, b, []int{8, 4000, 64 << 10})
	})
}

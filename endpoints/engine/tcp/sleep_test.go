// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// No wake-up is lost: two ports that always sleep, for as long as it takes, pass 20,000 messages
// to and fro. A lost one would be the end of the test.
func TestNoWakeUpIsLost(t *testing.T) {
	testsupport.NothingLeft(t)
	nodes := joined(t, Options{}, 1, 1)
	a, b := nodes[0].port(0), nodes[1].port(1)
	rounds := int32(20_000)
	if raceDetector {
		rounds = 2000
	}
	done := make(chan int32)
	var passed atomic.Int32
	go func() {
		for e := carriertest.AsleepUntil(b); e.Cell.Tag < rounds-1; e = carriertest.AsleepUntil(b) {
			_, _ = b.Send(0, 0, e.Cell.Tag, nil, 0)
			giveBack(b, e)
		}
		_, _ = b.Send(0, 0, rounds-1, nil, 0)
	}()
	go func() {
		last := int32(0)
		for i := range rounds {
			_, _ = a.Send(1, 0, i, nil, 0)
			e := carriertest.AsleepUntil(a)
			last = e.Cell.Tag
			giveBack(a, e)
			passed.Add(1)
		}
		done <- last
	}()
	for before := int32(-1); ; before = passed.Load() {
		select {
		case last := <-done:
			assert.Equal(t, rounds-1, last)
			return
		case <-time.After(carriertest.Within):
			require.NotEqual(t, before, passed.Load(), "both sleep")
		}
	}
}

func giveBack(p *Port, e *carrier.Event) { _, _ = p.Fetch(&e.Cell, nil, 0) }

// A message to a port that polls wakes nobody: the watch leaves the sockets alone.
func TestNobodyWatchesForTheAwake(t *testing.T) {
	nodes := joined(t, Options{}, 1, 1)
	a, b := nodes[0].port(0), nodes[1].port(1)
	b.Sleep(b.Doze(), time.Millisecond) // the watch was wanted, and is no more
	for end := time.Now().Add(carriertest.Within); nodes[1].watch.IsArmed(); {
		mustSend(t, a, 1, 0, nil, 0) // what comes lets it see that
		for e := new(carrier.Event); b.Poll(e); {
			giveBack(b, e)
		}
		require.True(t, time.Now().Before(end))
	}
	before := b.Bell().Rings()
	for range 100 {
		mustSend(t, a, 1, 0, nil, 0)
		e := new(carrier.Event)
		for end := time.Now().Add(carriertest.Within); !b.Poll(e); {
			require.True(t, time.Now().Before(end))
		}
		giveBack(b, e)
		require.False(t, nodes[1].watch.IsArmed())
	}
	assert.Equal(t, before, b.Bell().Rings())
}

// What found no room in the socket goes on without a call of its sender.
func TestWrittenWithoutCalls(t *testing.T) {
	nodes := joined(t, Options{Window: 1 << 30}, 1, 1)
	a, b := nodes[0].port(0), nodes[1].port(1)
	require.Equal(t, carrier.Pending, mustSend(t, a, 1, 0, carriertest.Filled(40<<20, 1), 0))
	offer := carriertest.Await(t, b)
	dst := make([]byte, 40<<20)
	_, err := b.Fetch(&offer.Cell, dst, 0)
	require.NoError(t, err)
	nodes[0].progress(true) // this is its last: it finds what is wanted
	for end := time.Now().Add(carriertest.Within); !nodes[0].links[1].out.busy(); nodes[0].progress(true) {
		require.True(t, time.Now().Before(end))
	}
	assert.Equal(t, carrier.Received, carriertest.Await(t, b).Kind)
	assert.Equal(t, carriertest.Filled(40<<20, 1), dst)
}

// busy tells whether the stream waits for room.
func (o *outgoing) busy() bool {
	o.Lock()
	defer o.Unlock()
	return o.waits
}

// Nothing is allocated per message, whatever its way.
func TestNoAllocation(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	nodes := joined(t, Options{AtStart: true}, 1, 1)
	a, b := nodes[0].port(0), nodes[1].port(1)
	carriertest.AllocatesNothing(t, a, b, []int{8, 4000, 64 << 10, 3 << 20})
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
	"github.com/tpsl/tpsl/internal/testsupport"
)

func init() {
	Roles["answer"] = func(n *Node, _ []string, _ func(string, ...any)) {
		p := n.port(1)
		for e := carriertest.AsleepUntil(p); e.Kind == carrier.Arrived; e = carriertest.AsleepUntil(p) {
			_, _ = p.Send(0, 0, e.Cell.Tag, nil, 0)
			if e.Cell.Tag < 0 {
				return
			}
		}
	}
}

// No wake-up is lost: two processes that always sleep, for as long as it takes, pass
// 20,000 messages to and fro. A lost one would be the end of the test.
func TestNoWakeUpIsLost(t *testing.T) {
	testsupport.NothingLeft(t)
	nodes, children := Together(t, Options{}, "", "answer")
	a := nodes[0].port(0)
	const rounds = 20_000
	done := make(chan int32)
	var passed atomic.Int32
	go func() {
		last := int32(0)
		for i := range int32(rounds) {
			_, _ = a.Send(1, 0, i, nil, 0)
			last = carriertest.AsleepUntil(a).Cell.Tag
			passed.Add(1)
		}
		_, _ = a.Send(1, 0, -1, nil, 0)
		done <- last
	}()
	for before := int32(-1); ; before = passed.Load() {
		select {
		case last := <-done:
			assert.EqualValues(t, rounds-1, last)
			assert.Empty(t, children[1].Wait())
			return
		case <-time.After(carriertest.Within):
			require.NotEqual(t, before, passed.Load(), "both sleep")
		}
	}
}

// Nobody enters the kernel to wake who does not sleep: the bell's word does not change.
func TestNoRingForTheAwake(t *testing.T) {
	a, b := pair(t, Options{})
	before := b.bell.Rings()
	for range 100 {
		mustSend(t, a, 1, 0, []byte("x"), 0)
		spinFor(t, b)
	}
	assert.Equal(t, before, b.bell.Rings())
}

// spinFor polls without sleep.
func spinFor(t *testing.T, p *Port) {
	t.Helper()
	for e, end := new(carrier.Event), time.Now().Add(carriertest.Within); !p.Poll(e); {
		require.True(t, time.Now().Before(end))
	}
}

// A closed node keeps neither a mapping nor a descriptor, and a node is closed once.
func TestNothingStays(t *testing.T) {
	testsupport.NothingLeft(t)
	nodes := joined(t, Options{Ports: 2, Total: 3}, Options{First: 2, Ports: 1, Total: 3})
	require.Equal(t, 4, mappings(t), "two segments in two nodes")
	require.NoError(t, nodes[0].Close())
	assert.ErrorIs(t, nodes[0].Close(), os.ErrClosed)
	assert.Equal(t, 2, mappings(t))
	require.NoError(t, nodes[1].Close())
	assert.Zero(t, mappings(t))
}

func mappings(t *testing.T) int {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	return strings.Count(string(maps), "memfd:tpsl-engine")
}

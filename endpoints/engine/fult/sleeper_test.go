// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package fult

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A signal ends a sleep and is not lost if it comes before; without one the limit does.
func TestSleeper(t *testing.T) {
	var s Sleeper
	b := s.Bit()
	assert.False(t, s.Wait(time.Millisecond), "nobody signals")
	b.Set()
	begin := time.Now()
	assert.True(t, s.Wait(time.Minute), "signalled before")
	assert.Less(t, time.Since(begin), 10*time.Second)

	const turns = 2000
	var flag, seen atomic.Uint32
	go func() {
		for i := uint32(1); i <= turns; i++ {
			flag.Store(i)
			b.Set()
			for seen.Load() != i {
				time.Sleep(time.Microsecond)
			}
		}
	}()
	for i := uint32(1); i <= turns; i++ {
		for flag.Load() != i {
			s.Wait(time.Minute) // hangs the test if a signal is lost
		}
		seen.Store(i)
	}
}

// A signal that comes as the limit ends leaves nothing behind on which a later one
// would have to wait.
func TestSleeperAtItsLimit(t *testing.T) {
	var s Sleeper
	s.Wait(1)
	b := s.Bit()
	var stop atomic.Bool
	ended := make(chan bool)
	go func() {
		for !stop.Load() {
			b.Set()
		}
		close(ended)
	}()
	for range 20000 {
		s.Wait(1)
		require.Empty(t, s.bell.park)
	}
	stop.Store(true)
	<-ended
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package fult

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
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

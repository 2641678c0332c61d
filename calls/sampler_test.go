// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package calls

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A rank that is always in a call is in one in all samples, one outside in none, and one that alternates in its share of them.
func TestSampler(t *testing.T) {
	b := newBoard(t, 0, 1, 2)
	b.enter(0, 0, 0, 1, 0, 0, 0)
	s := &Sampler{board: b, inCall: make([]int, 3)}
	const samples = 100
	for i := range samples {
		if i%4 == 0 || i%4 == 1 {
			b.enter(2, 5, 0, 1, 0, 0, 0) // in, and out again
		}
		s.sample()
	}
	taken, inCall := s.Counts()
	assert.Equal(t, samples, taken)
	assert.Equal(t, []int{samples, 0, samples / 4}, inCall)
}

// Samples are taken about as often as is told, and none after the end.
func TestSamplerEnds(t *testing.T) {
	b := newBoard(t, 0)
	began := time.Now()
	s := NewSampler(b)
	require.Eventually(t, func() bool { taken, _ := s.Counts(); return taken >= 4 }, time.Minute, time.Millisecond)
	assert.Greater(t, time.Since(began), 2*SampleEvery, "four samples in four periods")
	s.Stop()
	select {
	case <-s.ended:
	default:
		t.Error("it still runs")
	}
	before, _ := s.Counts()
	time.Sleep(3 * SampleEvery)
	after, _ := s.Counts()
	assert.Equal(t, before, after)
}

// A board that is closed meanwhile gives no samples.
func TestSamplerOfClosedBoard(t *testing.T) {
	b := newBoard(t, 0)
	s := &Sampler{board: b, inCall: make([]int, 1)}
	b.mu.Lock()
	memory := b.bytes
	b.bytes = nil
	b.mu.Unlock()
	s.sample()
	taken, _ := s.Counts()
	assert.Zero(t, taken)
	assert.Nil(t, b.Threads())
	assert.Nil(t, b.Glance())
	b.bytes = memory
}

func TestThreads(t *testing.T) {
	b := newBoard(t, 0, 1)
	b.enter(1, 0, 0, 77, 0, 0, 0)
	b.enter(1, 3, 0, 78, 0, 0, 0)
	b.enter(1, 3, 0, 78, 0, 0, 0) // out again
	assert.Equal(t, [][]int{nil, {77, 78}}, b.Threads())
}

// 4,096 ranks are sampled in much less time than lies between two samples.
func BenchmarkSample(b *testing.B) {
	ranks := make([]int, 4096)
	board := newBoard(b, ranks...)
	s := &Sampler{board: board, inCall: make([]int, len(ranks))}
	for b.Loop() {
		s.sample()
	}
}

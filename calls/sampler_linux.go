// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package calls

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// SampleEvery is the mean time between two samples of a Sampler.
const SampleEvery = 50 * time.Millisecond

// A Sampler looks at a board again and again, and counts how often each rank was in a call. So it finds the share of the time that ranks
// are in calls, which costs the ranks nothing. Its methods may be called from any goroutine.
type Sampler struct {
	board *Board
	stop  chan struct{}
	ended chan struct{}

	mu     sync.Mutex
	taken  int
	inCall []int // by local rank
}

// NewSampler begins to sample the board, until Stop.
func NewSampler(b *Board) *Sampler {
	s := &Sampler{board: b, stop: make(chan struct{}), ended: make(chan struct{}), inCall: make([]int, len(b.seen))}
	go s.run()
	return s
}

// Stop ends the sampling. Nothing runs any more when it returns.
func (s *Sampler) Stop() {
	close(s.stop)
	<-s.ended
}

// run takes a sample at a random moment of each period. A program whose steps take as long as a period would otherwise be met at the
// same place of each step.
func (s *Sampler) run() {
	defer close(s.ended)
	for period := time.Now(); ; period = period.Add(SampleEvery) {
		if late := time.Since(period); late > SampleEvery {
			period = period.Add(late) // this process was stopped: what was missed is not made up for
		}
		select {
		case <-time.After(time.Until(period.Add(rand.N(SampleEvery)))):
			s.sample()
		case <-s.stop:
			return
		}
	}
}

func (s *Sampler) sample() {
	in := s.board.inCalls()
	if in == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken++
	for local, is := range in {
		if is {
			s.inCall[local]++
		}
	}
}

// Counts returns how many samples were taken and, by local rank, in how many of them a thread of the rank was in a call.
func (s *Sampler) Counts() (taken int, inCall []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken, slices.Clone(s.inCall)
}

// inCalls reports for each rank, by its local rank, whether a thread of it is in a call. It returns nil after Close.
func (b *Board) inCalls() []bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bytes == nil {
		return nil
	}
	in := make([]bool, len(b.seen))
	for local := range in {
		rank := b.rank(local)
		for i := range notesPerRank {
			in[local] = in[local] || loadWord(noteOf(rank, i))%2 == 1
		}
	}
	return in
}

// Glance returns what the ranks do, as Read does, but at once: no call counts as settled.
func (b *Board) Glance() []Rank { return b.read() }

// Threads lists, by local rank, the threads of each rank that have made calls and have not ended, by their ids. It returns nil after Close,
// and for no board.
func (b *Board) Threads() (threads [][]int) {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bytes == nil {
		return nil
	}
	for local := range b.seen {
		var ids []int
		for i := range notesPerRank {
			if id := number(noteOf(b.rank(local), i)[44:]); id > 0 {
				ids = append(ids, id)
			}
		}
		threads = append(threads, ids)
	}
	return threads
}

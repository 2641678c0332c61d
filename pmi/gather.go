// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"errors"
	"fmt"
	"sync"
)

// ErrClosed means that the job ended while a barrier was open.
var ErrClosed = errors.New("barrier closed")

// An Exchanger completes a world barrier: count more ranks have arrived, with the puts they made since the last one.
// It returns when every rank of the world has arrived, with everybody's puts.
type Exchanger interface {
	Exchange(count int, puts []Entry) ([]Entry, error)
}

// A Gather is one node of the barrier tree. It waits until the ranks below it have arrived, then enters the barrier
// above it once on behalf of all of them: counts add, key-values merge.
type Gather struct {
	want int
	up   Exchanger

	mu      sync.Mutex
	arrived int
	puts    []Entry
	round   *round
	closed  error
}

// A round is one barrier: done is closed after union and err are set.
type round struct {
	done  chan struct{}
	union []Entry
	err   error
}

// NewGather returns a node above want ranks. The root of the tree has no up.
func NewGather(want int, up Exchanger) *Gather {
	return &Gather{want: want, up: up, round: newRound()}
}

func newRound() *round { return &round{done: make(chan struct{})} }

// Exchange adds count ranks and waits for the barrier.
func (g *Gather) Exchange(count int, puts []Entry) ([]Entry, error) {
	g.mu.Lock()
	if g.closed != nil {
		defer g.mu.Unlock()
		return nil, g.closed
	}
	if g.arrived+count > g.want {
		defer g.mu.Unlock()
		return nil, fmt.Errorf("enter barrier: %d ranks beyond the %d expected", g.arrived+count-g.want, g.want)
	}
	g.arrived += count
	g.puts = append(g.puts, puts...)
	current := g.round
	complete := g.arrived == g.want
	all := g.puts
	if complete {
		g.arrived, g.puts, g.round = 0, nil, newRound()
	}
	g.mu.Unlock()

	if complete {
		g.finish(current, all)
	}
	<-current.done
	return current.union, current.err
}

func (g *Gather) finish(r *round, all []Entry) {
	r.union = all
	if g.up != nil {
		r.union, r.err = g.up.Exchange(g.want, all)
	}
	close(r.done)
}

// Close fails the barrier that is gathering and every later one.
func (g *Gather) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed != nil {
		return
	}
	g.closed = ErrClosed
	g.round.err = ErrClosed
	close(g.round.done)
}

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

// An Arrival says that ranks have entered a barrier.
type Arrival struct {
	Barrier string // who meets, and a tag: see Group
	Count   int    // of ranks
	Puts    []Entry
}

// A Leave is called once when a barrier is complete, with everybody's puts, or when it has failed. It must not block.
type Leave func(union []Entry, err error)

// An Exchanger lets ranks into a barrier. Enter returns at once.
type Exchanger interface {
	Enter(a Arrival, leave Leave)
}

// A Gather is one node of the barrier tree. It collects those that arrive from the ranks below it; a barrier whose ranks
// are all below completes here, and any other one enters the node above once on behalf of all of them: counts add,
// key-values merge.
type Gather struct {
	size  int // of the world
	below Ranks
	up    Exchanger

	mu     sync.Mutex
	rounds map[string]*round // by barrier, while some of its ranks are missing
	closed bool
}

// A round is one barrier that gathers.
type round struct {
	want, got int
	isWhole   bool // nobody outside takes part
	puts      []Entry
	leaves    []Leave
}

// NewGather returns a node above some ranks of a world of size ranks. The root has no up.
func NewGather(size int, below Ranks, up Exchanger) *Gather {
	return &Gather{size: size, below: below, up: up, rounds: map[string]*round{}}
}

// Enter implements Exchanger.
func (g *Gather) Enter(a Arrival, leave Leave) {
	r, err := g.arrive(a, leave)
	switch {
	case err != nil:
		leave(nil, err)
	case r == nil: // others are missing
	case r.isWhole:
		r.leave(r.puts, nil)
	default:
		g.up.Enter(Arrival{a.Barrier, r.want, r.puts}, r.leave)
	}
}

// arrive returns the round when it is complete.
func (g *Gather) arrive(a Arrival, leave Leave) (*round, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, ErrClosed
	}
	r := g.rounds[a.Barrier]
	if r == nil {
		var err error
		if r, err = g.newRound(a.Barrier); err != nil {
			return nil, err
		}
	}
	if a.Count < 1 || r.got+a.Count > r.want {
		return nil, fmt.Errorf("enter barrier %s: %d more ranks, %d of %d are there", quote(a.Barrier), a.Count, r.got, r.want)
	}
	r.got += a.Count
	r.puts = append(r.puts, a.Puts...)
	r.leaves = append(r.leaves, leave)
	if r.got < r.want {
		g.rounds[a.Barrier] = r
		return nil, nil
	}
	delete(g.rounds, a.Barrier)
	return r, nil
}

func (g *Gather) newRound(barrier string) (*round, error) {
	group, err := ParseGroup(barrier)
	if err != nil {
		return nil, err
	}
	want, all := group.count(g.below, g.size)
	if want == 0 {
		return nil, fmt.Errorf("enter barrier %s: none of its ranks are here", quote(barrier))
	}
	return &round{want: want, isWhole: want == all || g.up == nil}, nil
}

func (r *round) leave(union []Entry, err error) {
	for _, leave := range r.leaves {
		leave(union, err)
	}
}

// Close fails the barriers that gather and every later one.
func (g *Gather) Close() {
	g.mu.Lock()
	open := g.rounds
	g.rounds, g.closed = nil, true
	g.mu.Unlock()
	for _, r := range open {
		r.leave(nil, ErrClosed)
	}
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
)

// A Team runs collective operations of all ports of a fabric, one after the other: each port has its own Team of
// the same context, and all call the same operations in the same order. One thread at a time uses a Team.
//
// What goes wrong for one rank ends the operation of all: with a GoneError if a process is gone, and with the words of
// the rank that has given up else. From then on the Team ends every operation with this error. Buffers of an
// operation that has ended with an error belong to the engine until the fabric is closed.
//
// The messages of an operation go along a binomial tree, so each takes 2 log2 of the ranks steps at most.
type Team struct {
	port    *Port
	context uint32
	rank    int
	size    int
	part    []byte // what a child has combined
	broken  error
}

// The tags of a team's messages.
const (
	tagOfTeam = iota
	tagBroken // the number of a rank that is gone, or noRank, and why
)

const noRank = 1<<32 - 1

// Team makes this port's part of a team, whose messages use a context that nothing else uses.
func (p *Port) Team(context uint32) (*Team, error) {
	if p.fabric.closed.Load() {
		return nil, ErrClosed
	}
	if p.fabric.options.Unique {
		return nil, errUnique
	}
	return &Team{port: p, context: context, rank: p.Rank(), size: p.fabric.Size()}, nil
}

// Barrier returns when all ranks have called it.
func (t *Team) Barrier(ctx context.Context) error {
	return t.Allreduce(ctx, nil, func(_, _ []byte) {})
}

// Bcast gives the root's bytes to all: buf has one length everywhere.
func (t *Team) Bcast(ctx context.Context, buf []byte, root int) error {
	if root < 0 || root >= t.size {
		return fmt.Errorf("port %d: broadcast from rank %d: the fabric has ranks 0 to %d", t.rank, root, t.size-1)
	}
	return t.ends(t.down(ctx, buf, root))
}

// Allreduce combines the bytes of all ranks, and gives the result to all: buf has one length everywhere. combine
// changes into, which is of lower ranks than from. It must be associative, and need not be commutative.
func (t *Team) Allreduce(ctx context.Context, buf []byte, combine func(into, from []byte)) error {
	if len(t.part) < len(buf) {
		t.part = make([]byte, len(buf))
	}
	part := t.part[:len(buf)]
	err := t.up(ctx, func(first, _ int) []byte {
		if first == t.rank {
			return buf
		}
		return part
	}, func() { combine(buf, part) })
	if err == nil {
		err = t.down(ctx, buf, 0)
	}
	return t.ends(err)
}

// Allgather gives each rank's part to all. all has a part of one length for each rank, in their order, and its own one is filled in.
func (t *Team) Allgather(ctx context.Context, all []byte) error {
	if len(all)%t.size != 0 {
		return fmt.Errorf("port %d: gather %d bytes: take a multiple of the %d ranks", t.rank, len(all), t.size)
	}
	n := len(all) / t.size
	err := t.up(ctx, func(first, end int) []byte { return all[first*n : end*n] }, func() {})
	if err == nil {
		err = t.down(ctx, all, 0)
	}
	return t.ends(err)
}

// up brings what the ranks have to rank 0. part is what the ranks from first on, before end, have together; the
// ranks below a rank follow it. merge takes what has come.
func (t *Team) up(ctx context.Context, part func(first, end int) []byte, merge func()) error {
	for step := 1; step < t.size; step *= 2 {
		if t.rank&step != 0 {
			return t.send(ctx, part(t.rank, min(t.rank+step, t.size)), t.rank-step)
		}
		if child := t.rank + step; child < t.size {
			if err := t.receive(ctx, part(child, min(child+step, t.size)), child); err != nil {
				return err
			}
			merge()
		}
	}
	return nil
}

// down brings what the root has to all.
func (t *Team) down(ctx context.Context, buf []byte, root int) error {
	place := (t.rank - root + t.size) % t.size // in the tree, whose root has 0
	at := func(place int) int { return (place + root) % t.size }
	step := 1
	for ; step < t.size && place&step == 0; step *= 2 {
	}
	if place != 0 {
		if err := t.receive(ctx, buf, at(place-step)); err != nil {
			return err
		}
	}
	for step /= 2; step > 0; step /= 2 {
		if place+step < t.size {
			if err := t.send(ctx, buf, at(place+step)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *Team) envelope(peer int) Envelope {
	return Envelope{Context: t.context, Peer: int32(peer), Tag: tagOfTeam}
}

func (t *Team) send(ctx context.Context, buf []byte, to int) error {
	if t.broken != nil {
		return t.broken
	}
	r, err := t.port.Isend(buf, t.envelope(to))
	if err != nil {
		return err
	}
	_, err = t.wait(ctx, r)
	return err
}

func (t *Team) receive(ctx context.Context, buf []byte, from int) error {
	if t.broken != nil {
		return t.broken
	}
	r, err := t.port.Irecv(buf, t.envelope(from))
	if err != nil {
		return err
	}
	s, err := t.wait(ctx, r)
	if errors.Is(err, ErrTruncated) || err == nil && s.Bytes != len(buf) {
		err = fmt.Errorf("rank %d has sent another length than the %d bytes of rank %d: give all ranks buffers of one length", from, len(buf), t.rank)
	}
	return err
}

// looksEach is how many vain polls there are until a rank that waits looks for the end of its context, and for bad news.
const looksEach = 16

// wait waits for a request, the end of the context, or bad news.
func (t *Team) wait(ctx context.Context, r Request) (Status, error) {
	var w waiter
	for polls := 1; ; polls++ {
		s, done, err := r.Test()
		if done {
			return s, err
		}
		if polls%looksEach == 0 {
			if err = t.news(); err == nil {
				err = ctx.Err()
			}
			if err != nil {
				_ = r.Cancel()
				_, _, _ = r.Test()
				return s, err
			}
		}
		t.port.idle(&w)
	}
}

// news returns the error that another rank tells of, and keeps it.
func (t *Team) news() error {
	s, found, err := t.port.Iprobe(Envelope{Context: t.context, Peer: AnySource, Tag: tagBroken})
	if err != nil || !found {
		return err
	}
	told := make([]byte, s.Bytes)
	if _, err := t.port.Recv(told, s.Envelope); err != nil {
		return err
	}
	if len(told) < 4 {
		return nil // no team sends such
	}
	why := string(told[4:])
	if rank := binary.LittleEndian.Uint32(told); rank != noRank {
		t.broken = &carrier.GoneError{Rank: int(rank), Why: why}
	} else {
		t.broken = fmt.Errorf("rank %d has given up: %s", s.Peer, why)
	}
	return t.broken
}

// ends ends an operation. The first rank that an error happens to tells all others.
func (t *Team) ends(err error) error {
	if err == nil || t.broken != nil || errors.Is(err, ErrClosed) {
		return err
	}
	t.broken = err
	rank, why := uint32(noRank), err.Error()
	if gone := (*carrier.GoneError)(nil); errors.As(err, &gone) {
		rank, why = uint32(gone.Rank), gone.Why
	}
	told := append(binary.LittleEndian.AppendUint32(nil, rank), why...)
	for peer := range t.size {
		if peer != t.rank {
			_ = t.port.Into(new(Counter), 0).Send(told, Envelope{Context: t.context, Peer: int32(peer), Tag: tagBroken})
		}
	}
	t.port.Progress()
	return err
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/tpsl/tpsl/endpoints/engine"
)

// A consensus finds out that a level is over without a count of messages from everybody to everybody, as
// the NBX algorithm does: each message of finds is acknowledged once its finds stand. A rank whose
// mates have scanned all, and whose messages are all acknowledged, enters a barrier that does not
// block: meanwhile its mates go on receiving. When the barrier is through, all ranks have
// entered it, so no find is on its way.
type consensus struct {
	unacknowledged atomic.Int64
	scanned        atomic.Int64 // mates whose share is done
	through        atomic.Bool
}

func (c *consensus) reset() {
	c.scanned.Store(0)
	c.through.Store(false)
}

// hybridLevel scans this mate's share of the frontier, and receives until the level is over.
func (w *walker) hybridLevel() error {
	mates, mate := len(w.found), w.m.Mate
	ack, err := w.awaitAck()
	if err != nil {
		return err
	}
	share := w.frontier[len(w.frontier)*mate/mates : len(w.frontier)*(mate+1)/mates]
	if err := w.scan(share); err != nil {
		return err
	}
	w.scanned.Add(1)
	b := nonBlockingBarrier{w: w, step: 1}
	for !w.through.Load() {
		came, err := w.receive()
		if err != nil {
			return err
		}
		if _, acked, err := ack.Test(); err != nil {
			return err
		} else if acked {
			w.unacknowledged.Add(-1)
			if ack, err = w.awaitAck(); err != nil {
				return err
			}
		}
		if mate == 0 && w.scanned.Load() == int64(mates) && w.unacknowledged.Load() == 0 {
			if err := b.advance(); err != nil {
				return err
			}
		}
		if !came {
			w.m.Yield()
		}
	}
	return w.forget(ack)
}

// awaitAck posts a receive for an acknowledgement of this mate's finds.
func (w *walker) awaitAck() (engine.Request, error) {
	return w.m.Port.Irecv(nil, engine.Envelope{Context: acks, Peer: engine.AnySource, Tag: int32(w.m.Mate)})
}

// forget takes a posted receive back: no acknowledgement is missing.
func (w *walker) forget(ack engine.Request) error {
	if err := ack.Cancel(); err != nil {
		return err
	}
	switch _, err := ack.Wait(); {
	case err == nil:
		return fmt.Errorf("rank %d: an acknowledgement more than messages", w.rank)
	case errors.Is(err, engine.ErrCancelled):
		return nil
	default:
		return err
	}
}

// acknowledge tells the mate that sent finds that they stand.
func (w *walker) acknowledge(s engine.Status) error {
	return w.m.Port.Send(nil, engine.Envelope{Context: acks, Peer: s.Peer, Tag: s.Tag})
}

// A nonBlockingBarrier is a dissemination barrier, moved on by whoever polls it: in each step a rank
// tells the one that is so far above it, and waits for the one that is so far below.
type nonBlockingBarrier struct {
	w     *walker
	step  int
	waits bool
	below engine.Request
}

func (b *nonBlockingBarrier) advance() (err error) {
	m := b.w.m
	for b.step < m.Size {
		if !b.waits {
			e := engine.Envelope{Context: barrier, Peer: int32((m.Rank - b.step + m.Size) % m.Size), Tag: int32(b.step)}
			if b.below, err = m.Port.Irecv(nil, e); err != nil {
				return err
			}
			e.Peer = int32((m.Rank + b.step) % m.Size)
			if err := m.Port.Send(nil, e); err != nil {
				return err
			}
			b.waits = true
		}
		if _, came, err := b.below.Test(); err != nil || !came {
			return err
		}
		b.waits = false
		b.step *= 2
	}
	b.w.through.Store(true)
	return nil
}

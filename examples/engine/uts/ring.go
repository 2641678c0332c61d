// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/examples/engine/internal/crew"
)

// A ring finds out that all is over, by Safra's algorithm: a token goes round from rank to rank, each of
// which keeps it until it is passive, adds its balance of messages with nodes, and
// blackens it if it has received such a message since it last had the token. A white
// token that comes back to a white rank 0 with balance 0 says that no node is left anywhere. A server
// that takes nodes counts the message together with the taking, so its worker, who finds none, cannot miss it.
type ring struct {
	black bool
	has   bool           // the token; rank 0 has it first
	token []int64        // balance, black
	next  engine.Request // the token's arrival
}

// Tags of the ring's messages.
const (
	pass = iota
	over
)

// join makes the token, which rank 0 has at first.
func (w *worker) join() error {
	w.token = []int64{0, 1} // black: the first round only starts
	if w.m.Rank == 0 {
		w.has = true
		return nil
	}
	return w.listenToRing()
}

func (w *worker) listenToRing() (err error) {
	w.next, err = w.m.Port.Irecv(crew.Bytes(w.token), engine.Envelope{Context: tokens, Peer: engine.AnySource, Tag: engine.AnyTag})
	return err
}

// hear looks whether the token has come, or that all is over.
func (w *worker) hear() (ended bool, err error) {
	if w.has {
		return false, nil
	}
	s, came, err := w.next.Test()
	if err != nil || !came {
		return false, err
	}
	w.has = s.Tag == pass
	return !w.has, nil
}

// turn passes the token on, if it is here, and tells whether all is over.
//
// Preconditions: the worker is passive.
func (w *worker) turn() (ended bool, err error) {
	switch {
	case !w.has:
		return false, nil
	case w.m.Rank > 0:
		w.token[0] += w.balance.Load()
		if w.black {
			w.token[1] = 1
		}
	case w.token[1] == 0 && !w.black && w.token[0]+w.balance.Load() == 0:
		return true, w.end()
	default:
		w.token[0], w.token[1] = 0, 0
	}
	w.black, w.has = false, false
	token := []int64{w.token[0], w.token[1]}
	if err := w.listenToRing(); err != nil {
		return false, err
	}
	return false, crew.Send(w.m, tokens, (w.m.Rank+1)%w.m.Size, pass, token)
}

// end tells the others that all is over.
func (w *worker) end() error {
	for rank := 1; rank < w.m.Size; rank++ {
		if err := crew.Send(w.m, tokens, rank, over, w.token[:0]); err != nil {
			return err
		}
	}
	return nil
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/examples/engine/internal/crew"
)

// Contexts of messages.
const (
	requests = iota + 1 // of thieves; the tag says what
	replies
	tokens // see ring
)

// Tags of requests.
const (
	steal = iota
	stop  // to the own server
)

// A thief is what a worker needs to steal, and to answer others.
type thief struct {
	request engine.Request // one that is awaited, where there is no server
	asked   engine.Request // the own one, on its way
	reply   engine.Request // awaited, if waits
	waits   bool
	loot    []byte
	answer  []byte
	vain    int // requests in a row
	thefts  int64
}

// open begins to listen.
func (w *worker) open() (err error) {
	w.loot = make([]byte, w.chunk*nodeBytes)
	if err := w.join(); err != nil {
		return err
	}
	return w.listen()
}

// listen awaits a thief's request, if there is no server who does.
func (w *worker) listen() (err error) {
	if w.Mates == 1 {
		w.request, err = w.m.Port.Irecv(nil, engine.Envelope{Context: requests, Peer: engine.AnySource, Tag: steal})
	}
	return err
}

// serve answers a thief, if one has come.
func (w *worker) serve() error {
	if w.Mates > 1 {
		return nil
	}
	s, came, err := w.request.Test()
	if err != nil || !came {
		return err
	}
	if err := w.give(w.m, s.Peer); err != nil {
		return err
	}
	return w.listen()
}

// give sends a thief what there is.
func (w *worker) give(m *crew.Member, to int32) error {
	w.answer = w.larder.steal(w.answer[:0])
	if err := m.Port.Send(w.answer, engine.Envelope{Context: replies, Peer: to}); err != nil {
		return fmt.Errorf("rank %d: answer %d: %w", m.Rank, to, err)
	}
	return nil
}

// serveAll answers thieves until the worker says stop: it is the whole of a server's life.
func (w *worker) serveAll(m *crew.Member) error {
	for {
		s, err := m.Port.Recv(nil, engine.Envelope{Context: requests, Peer: engine.AnySource, Tag: engine.AnyTag})
		switch {
		case err != nil:
			return fmt.Errorf("rank %d: server: %w", m.Rank, err)
		case s.Tag == stop:
			return nil
		}
		if err := w.give(m, s.Peer); err != nil {
			return err
		}
	}
}

// close ends the server.
func (w *worker) close() error {
	if w.Mates == 1 {
		return nil
	}
	return w.m.Port.Send(nil, engine.Envelope{Context: requests, Peer: int32(w.m.Rank), Tag: stop})
}

// seek steals until nodes have come, or all is over. Others' requests are answered meanwhile.
func (w *worker) seek() (over bool, err error) {
	for w.vain = 0; ; {
		if over, err = w.hear(); over || err != nil {
			return over, err // a reply may be missing: whoever owes it is gone
		}
		if w.waits {
			if came, err := w.collect(); came || err != nil {
				return false, err
			}
		}
		if !w.waits { // passive: neither nodes here nor such that may be on their way
			if over, err = w.turn(); over || err != nil {
				return over, err
			}
			if err := w.ask(); err != nil {
				return false, err
			}
		}
		if err := w.serve(); err != nil {
			return false, err
		}
		if w.m.Yield(); w.vain > 2*w.m.Size {
			w.vain = 0
			w.m.Rest()
		}
	}
}

// ask asks another one, by chance.
func (w *worker) ask() (err error) {
	if w.m.Size == 1 {
		return nil
	}
	victim := int32((w.m.Rank + 1 + rand.IntN(w.m.Size-1)) % w.m.Size)
	if w.reply, err = w.m.Port.Irecv(w.loot, engine.Envelope{Context: replies, Peer: victim}); err != nil {
		return err
	}
	w.waits = true
	w.asked, err = w.m.Port.Isend(nil, engine.Envelope{Context: requests, Peer: victim, Tag: steal})
	return err
}

// collect takes the reply, if it came, and tells whether it has nodes.
func (w *worker) collect() (nodes bool, err error) {
	s, came, err := w.reply.Test()
	if err != nil || !came {
		return false, err
	}
	if _, err := w.asked.Wait(); err != nil {
		return false, err
	}
	w.waits = false
	if s.Bytes == 0 {
		w.vain++
		return false, nil
	}
	w.stack = unpack(w.stack, w.loot[:s.Bytes])
	w.thefts++
	w.balance.Add(-1)
	w.black = true
	return true, nil
}

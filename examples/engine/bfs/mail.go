// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/examples/engine/internal/crew"
)

// Contexts of messages. Finds of odd levels have another than those of even ones: a rank that knows that a
// level is over may be one ahead of one that does not.
const (
	finds   = 1 // and 2
	acks    = 3 // of finds; the tag is the sender's mate
	barrier = 4 // see hybrid
	results = 5 // parents of a part's vertices
)

// Tags of finds, above those that name the sender's mate.
const ended = 1 << 20 // no more of this level

// batch is how many finds make a message: pairs of a vertex and of the parent that it was found from.
const batch = 512

// A mail is a thread's outgoing and incoming finds.
type mail struct {
	m    *crew.Member
	out  []outgoing // by rank
	in   [2][]incoming
	turn [2]int // of in: the one whose message came first
}

// Outgoing finds are collected in one buffer while the other is sent.
type outgoing struct {
	pairs   []uint32
	other   []uint32
	request engine.Request // of the other
}

// An incoming buffer waits for finds.
type incoming struct {
	pairs   []uint32
	request engine.Request
}

func newMail(m *crew.Member, buffers int) (*mail, error) {
	b := &mail{m: m, out: make([]outgoing, m.Size)}
	for i := range b.out {
		b.out[i].pairs, b.out[i].other = make([]uint32, 0, 2*batch), make([]uint32, 0, 2*batch)
	}
	for odd := range b.in {
		for range buffers {
			b.in[odd] = append(b.in[odd], incoming{pairs: make([]uint32, 2*batch)})
			if err := b.await(odd, len(b.in[odd])-1); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

// await posts a receive for an incoming buffer.
func (b *mail) await(odd, i int) (err error) {
	in := &b.in[odd][i]
	in.request, err = b.m.Port.Irecv(crew.Bytes(in.pairs), engine.Envelope{Context: finds + uint32(odd), Peer: engine.AnySource, Tag: engine.AnyTag})
	return err
}

// came takes the next message of finds, in the order in which they came, if there is one.
func (b *mail) came(odd int, take func(pairs []uint32, s engine.Status) error) (bool, error) {
	if len(b.in[odd]) == 0 {
		return false, nil
	}
	i := b.turn[odd]
	in := &b.in[odd][i]
	s, came, err := in.request.Test()
	if err != nil || !came {
		return false, err
	}
	if err := take(in.pairs[:s.Bytes/4], s); err != nil {
		return false, err
	}
	b.turn[odd] = (i + 1) % len(b.in[odd])
	return true, b.await(odd, i)
}

// flush sends the finds for a rank. meanwhile is called while the other buffer is not free.
func (b *mail) flush(to, odd int, meanwhile func() error) error {
	o := &b.out[to]
	for {
		_, free, err := o.request.Test()
		if err != nil {
			return fmt.Errorf("rank %d: send finds to %d: %w", b.m.Rank, to, err)
		}
		if free {
			break
		}
		if err := meanwhile(); err != nil {
			return err
		}
		b.m.Yield()
	}
	o.pairs, o.other = o.other[:0], o.pairs
	e := engine.Envelope{Context: finds + uint32(odd), Peer: int32(to), Tag: int32(b.m.Mate)}
	var err error
	o.request, err = b.m.Port.Isend(crew.Bytes(o.other), e)
	return err
}

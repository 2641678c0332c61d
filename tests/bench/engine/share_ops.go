// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine"
)

// burst is how many messages a lane sends before it hears from the other side.
const burst = 32

// exchange sends bursts on so many lanes, which are tags, from port 0 to port 1. Threads of either
// port have the lanes in turns.
func exchange(f *engine.Fabric, lanes, senders, receivers, size, rounds int) (time.Duration, error) {
	var threads []func() error
	for i := range senders {
		s := newBursts(f.Port(0), 1, i, senders, lanes, size)
		threads = append(threads, func() error { return s.send(rounds) })
	}
	for i := range receivers {
		r := newBursts(f.Port(1), 0, i, receivers, lanes, size)
		threads = append(threads, func() error { return r.receive(rounds) })
	}
	return alongside(threads...)
}

// bursts are what one thread sends or receives: those of some lanes.
type bursts struct {
	port     *engine.Port
	peer     int32
	lanes    []int32
	size     int
	room     []byte // of all messages of a round
	requests []engine.Request
}

func newBursts(p *engine.Port, peer int32, thread, threads, lanes, size int) *bursts {
	b := &bursts{port: p, peer: peer, size: size}
	for lane := thread; lane < lanes; lane += threads {
		b.lanes = append(b.lanes, int32(lane))
	}
	n := burst * len(b.lanes)
	b.room, b.requests = make([]byte, n*size), make([]engine.Request, n)
	return b
}

// message returns the place of a message, and its envelope.
func (b *bursts) message(i int) ([]byte, engine.Envelope) {
	return b.room[i*b.size:][:b.size], engine.Envelope{Peer: b.peer, Tag: b.lanes[i/burst]}
}

func (b *bursts) send(rounds int) error {
	for round := range uint64(rounds) {
		for i := range b.requests {
			data, e := b.message(i)
			stamp(data, round<<8|uint64(i%burst))
			var err error
			if b.requests[i], err = b.port.Isend(data, e); err != nil {
				return err
			}
		}
		if err := engine.WaitAll(b.requests, nil); err != nil {
			return err
		}
		for _, lane := range b.lanes {
			if _, err := b.port.Recv(nil, engine.Envelope{Context: 1, Peer: b.peer, Tag: lane}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *bursts) receive(rounds int) error {
	for round := range uint64(rounds) {
		for i := range b.requests {
			room, e := b.message(i)
			stamp(room, ^uint64(0))
			var err error
			if b.requests[i], err = b.port.Irecv(room, e); err != nil {
				return err
			}
		}
		if err := engine.WaitAll(b.requests, nil); err != nil {
			return err
		}
		for i := range b.requests {
			data, _ := b.message(i)
			if err := stamped(data, round<<8|uint64(i%burst)); err != nil {
				return err
			}
		}
		for _, lane := range b.lanes {
			if err := b.port.Send(nil, engine.Envelope{Context: 1, Peer: b.peer, Tag: lane}); err != nil {
				return err
			}
		}
	}
	return nil
}

// serve has threads of port 0 send messages to a single thread of port 1, which sends them back.
func serve(f *engine.Fabric, clients, size, rounds int) (time.Duration, error) {
	server := func() error {
		buf := make([]byte, size)
		for range clients * rounds {
			s, err := f.Port(1).Recv(buf, engine.Envelope{Peer: 0, Tag: engine.AnyTag})
			if err != nil {
				return err
			}
			if err := f.Port(1).Send(buf, s.Envelope); err != nil {
				return err
			}
		}
		return nil
	}
	threads := []func() error{server}
	for tag := range int32(clients) {
		threads = append(threads, func() error {
			buf, e := make([]byte, size), engine.Envelope{Peer: 1, Tag: tag}
			for round := range uint64(rounds) {
				if err := there(f.Port(0), buf, buf, e, round<<8|uint64(tag)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return alongside(threads...)
}

// toSelf has threads of port 0 send messages to it, each thread under a tag of its own: no other
// port, nor its thread, takes part.
func toSelf(f *engine.Fabric, clients, size, rounds int) (time.Duration, error) {
	var threads []func() error
	for tag := range int32(clients) {
		threads = append(threads, func() error {
			out, in, e := make([]byte, size), make([]byte, size), engine.Envelope{Tag: tag}
			for round := range uint64(rounds) {
				if err := there(f.Port(0), out, in, e, round<<8|uint64(tag)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return alongside(threads...)
}

// there sends a message with a mark and receives the one that comes for it.
func there(p *engine.Port, out, in []byte, e engine.Envelope, mark uint64) error {
	stamp(out, mark)
	s, err := p.Isend(out, e)
	if err != nil {
		return err
	}
	if _, err := p.Recv(in, e); err != nil {
		return err
	}
	if _, err := s.Wait(); err != nil {
		return err
	}
	return stamped(in, mark)
}

// putInto has threads of port 0 put bursts into a region of port 1, each to places of its own.
func putInto(f *engine.Fabric, threads, size, rounds int) (time.Duration, error) {
	memory := make([]byte, threads*burst*size)
	region, err := f.Port(1).Register(memory)
	if err != nil {
		return 0, err
	}
	key := region.Key()
	var all []func() error
	for thread := range threads {
		data, requests := make([]byte, burst*size), make([]engine.Request, burst)
		begin := thread * len(data)
		all = append(all, func() error {
			for round := range uint64(rounds) {
				for i := range requests {
					part := data[i*size:][:size]
					stamp(part, round<<8|uint64(i))
					var err error
					if requests[i], err = f.Port(0).Put(key, begin+i*size, part); err != nil {
						return err
					}
				}
				if err := engine.WaitAll(requests, nil); err != nil {
					return err
				}
				for i := range uint64(burst) {
					if err := stamped(memory[begin+int(i)*size:][:size], round<<8|i); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	took, err := alongside(all...)
	return took, errors.Join(err, region.Free())
}

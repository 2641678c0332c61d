// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/tests/bench/report"
)

const (
	rate      = "Rate/mode=engine/between=threads/pairs=1"
	bandwidth = "Bandwidth/mode=engine/between=threads/pairs=1"
	flatRate  = "Rate/mode=flat/between=processes/pairs=1"
	large     = "/size=4194304"
	batch     = "/batch=on" // each side starts a window by one call
	memcpy    = "Memcpy" + large
)

func init() {
	register(bench{
		name:  "Rate",
		about: "messages and bytes per second of a pair of threads, by size and model, one by one and in batches",
		limit: 30 * time.Second,
		sides: func(plan) []string {
			return append(withModels(rate), rate+"/halves=off", rate+batch)
		},
		measure: measureRate,
		cores:   2,
		goals: []report.Goal{
			{What: "8 B message rate, engine/flat MPICH", Name: rate + "/size=8", Base: flatRate + "/size=8", NotWorse: true},
			{What: "8 B message rate in batches, engine/flat MPICH", Name: rate + batch + "/size=8", Base: flatRate + "/size=8", AtLeast: 1.2},
			{What: "8 B message rate, in batches/one by one", Name: rate + batch + "/size=8", Base: rate + "/size=8"},
			{What: "8 B message rate, global/private", Name: rate + "/model=global/size=8", Base: rate + "/size=8"},
			{What: "4 MiB bandwidth of one copy, engine/memcpy", Name: bandwidth + "/halves=off" + large, Base: memcpy, AtLeast: 0.95},
			{What: "4 MiB bandwidth of both halves at once, engine/memcpy", Name: bandwidth + large, Base: memcpy, AtLeast: 1},
		},
	})
}

// Messages of a window, and room for those that come.
const (
	window      = 64
	ofLarge     = 16
	largeFrom   = 65536 + 1
	roomForThem = 4 << 20
)

// measureRate sends windows of messages, each window acknowledged, as stream.c of tests/bench/programs does.
func measureRate(m *meter) error {
	for _, size := range m.sizes() {
		f, err := fabric(m.side, 2)
		if err != nil {
			return err
		}
		messages := messagesOf(size)
		out, in := make([]byte, size), make([]byte, roomForThem)
		rounds, took, err := m.repeat(func(rounds int) (time.Duration, error) { return m.windows(f, out, in, messages, rounds) })
		if err != nil {
			return err
		}
		messages *= rounds
		m.print(messages, millionsOf(took, messages), "Mmsg/s", fmt.Sprintf("size=%d", size))
		m.printAs("Bandwidth", messages, float64(size)/nanosecondsOf(took, messages), "GB/s", fmt.Sprintf("size=%d", size))
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// messagesOf is how many messages of a size a window has.
func messagesOf(size int) int {
	if size >= largeFrom {
		return ofLarge
	}
	return window
}

// windows sends so many, from port 0 to port 1.
func (m *meter) windows(f *engine.Fabric, out, in []byte, messages, rounds int) (took time.Duration, err error) {
	err = m.together(2, func(me int) error {
		passed, err := flow(f.Port(me), out, in, messages, rounds, m.batched())
		if me == 0 {
			took = passed
		}
		return err
	})
	return took, err
}

// batched tells whether the side starts the messages of a window by one call.
func (m *meter) batched() bool { return m.side.Get("batch") == "on" }

// flow is what port 0 or 1 of a pair does: 0 sends out, 1 receives messages as long.
func flow(p *engine.Port, out, in []byte, messages, rounds int, batched bool) (took time.Duration, err error) {
	s := stream{p: p, peer: engine.Envelope{Peer: int32(1 - p.Rank())}, batched: batched}
	var begin time.Time
	for round := range uint64(warm + rounds) {
		if round == warm {
			begin = time.Now()
		}
		if p.Rank() == 0 {
			err = s.send(out, messages, round)
		} else {
			err = s.receive(in, len(out), messages, round)
		}
		if err != nil {
			return 0, err
		}
	}
	return time.Since(begin), nil
}

// A stream is one side of a pair, which sends or receives windows.
type stream struct {
	p        *engine.Port
	peer     engine.Envelope
	batched  bool // one call starts a window
	bufs     [window][]byte
	requests [window]engine.Request
}

// send sends a window of equal messages, and waits until it was received.
func (s *stream) send(out []byte, messages int, round uint64) (err error) {
	stamp(out, round)
	for i := range messages {
		s.bufs[i] = out
	}
	if s.batched {
		err = s.p.IsendAll(s.bufs[:messages], s.peer, s.requests[:])
	} else {
		for i := range messages {
			if s.requests[i], err = s.p.Isend(out, s.peer); err != nil {
				break
			}
		}
	}
	if err == nil {
		err = engine.WaitAll(s.requests[:messages], nil)
	}
	if err == nil {
		_, err = s.p.Recv(nil, s.peer)
	}
	return err
}

// receive receives a window into the parts of the room, in turns, which are spoilt before.
func (s *stream) receive(in []byte, size, messages int, round uint64) (err error) {
	parts := min(messages, len(in)/size)
	for i := range parts {
		s.bufs[i] = in[i*size : (i+1)*size]
	}
	for done := 0; done < messages; done += parts {
		if err := s.receivePart(s.bufs[:parts], round); err != nil {
			return err
		}
	}
	return s.p.Send(nil, s.peer)
}

func (s *stream) receivePart(bufs [][]byte, round uint64) (err error) {
	for _, buf := range bufs {
		stamp(buf, ^uint64(0))
	}
	if s.batched {
		err = s.p.IrecvAll(bufs, s.peer, s.requests[:])
	} else {
		for i, buf := range bufs {
			if s.requests[i], err = s.p.Irecv(buf, s.peer); err != nil {
				break
			}
		}
	}
	if err == nil {
		err = engine.WaitAll(s.requests[:len(bufs)], nil)
	}
	for i := 0; i < len(bufs) && err == nil; i++ {
		err = stamped(bufs[i], round)
	}
	return err
}

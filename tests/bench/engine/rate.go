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
	memcpy    = "Memcpy" + large
)

func init() {
	register(bench{
		name:  "Rate",
		about: "messages and bytes per second of a pair of threads, by size and model",
		limit: 30 * time.Second,
		sides: func(plan) []string {
			return append(withModels(rate), rate+"/halves=off")
		},
		measure: measureRate,
		cores:   2,
		goals: []report.Goal{
			{What: "8 B message rate, engine/flat MPICH", Name: rate + "/size=8", Base: flatRate + "/size=8", NotWorse: true},
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
		passed, err := flow(f.Port(me), out, in, messages, rounds)
		if me == 0 {
			took = passed
		}
		return err
	})
	return took, err
}

// flow is what port 0 or 1 of a pair does: 0 sends out, 1 receives messages as long.
func flow(p *engine.Port, out, in []byte, messages, rounds int) (took time.Duration, err error) {
	var begin time.Time
	for round := range uint64(warm + rounds) {
		if round == warm {
			begin = time.Now()
		}
		if p.Rank() == 0 {
			err = sendWindow(p, out, messages, round, engine.Envelope{Peer: 1})
		} else {
			err = receiveWindow(p, in, len(out), messages, round, engine.Envelope{Peer: 0})
		}
		if err != nil {
			return 0, err
		}
	}
	return time.Since(begin), nil
}

func sendWindow(p *engine.Port, out []byte, messages int, round uint64, to engine.Envelope) (err error) {
	var requests [window]engine.Request
	stamp(out, round)
	for i := range messages {
		if requests[i], err = p.Isend(out, to); err != nil {
			return err
		}
	}
	if err := engine.WaitAll(requests[:messages], nil); err != nil {
		return err
	}
	_, err = p.Recv(nil, to)
	return err
}

// receiveWindow receives into the parts of the room, in turns, which are spoilt before.
func receiveWindow(p *engine.Port, in []byte, size, messages int, round uint64, from engine.Envelope) (err error) {
	var requests [window]engine.Request
	parts := min(messages, len(in)/size)
	for done := 0; done < messages; done += parts {
		for i := range parts {
			stamp(in[i*size:(i+1)*size], ^uint64(0))
			if requests[i], err = p.Irecv(in[i*size:(i+1)*size], from); err != nil {
				return err
			}
		}
		if err := engine.WaitAll(requests[:parts], nil); err != nil {
			return err
		}
		for i := range parts {
			if err := stamped(in[i*size:(i+1)*size], round); err != nil {
				return err
			}
		}
	}
	return p.Send(nil, from)
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/tests/bench/report"
)

func init() {
	goals := []report.Goal{
		{What: "99.9 % of Isend while the owner copies, LockQ, in us", Name: "Stall/model=lockq/at=p99.9", AtMost: 100},
		{What: "99.9 % of Isend while the owner copies, offload, in us", Name: "Stall/model=offload/at=p99.9", AtMost: 100},
	}
	for _, model := range []string{"global", "per-vni", "hmcs", "csync"} {
		goals = append(goals, report.Goal{What: "99.9 % of Isend while the owner copies, " + model + ", in us",
			Name: "Stall/model=" + model + "/at=p99.9", AtLeast: 10_000})
	}
	register(bench{
		name:  "Stall",
		about: "how long Isend takes while another thread of the port copies a large message for more than 10 ms",
		limit: 30 * time.Second,
		sides: func(plan) (sides []string) {
			for _, model := range engine.Models() {
				if model != engine.Private {
					sides = append(sides, "Stall/model="+model.String())
				}
			}
			return sides
		},
		measure: measureStall,
		cores:   2,
		goals:   goals,
	})
}

// A stall is a receive whose message, of so many bytes, has come before: its thread, or that of model
// Offload, copies for as long as it owns the port's inner half.
const (
	stallSize = 256 << 20
	stalls    = 10
	perStall  = 400 // sends, where they return
)

func measureStall(m *meter) error {
	f, err := engine.New(engine.Options{Ports: 2, Model: modelOf(m.side), Halves: -1, Ring: 4096})
	if err != nil {
		return err
	}
	defer f.Close()
	s := &stall{f: f, out: make([]byte, stallSize), in: make([]byte, stallSize)}
	clear(s.out) // now, or the copies would wait for pages
	clear(s.in)
	for range stalls {
		s.phase.Store(before)
		if _, err := alongside(s.receive, s.send, s.peer); err != nil {
			return err
		}
	}
	if len(s.took) == 0 {
		return fmt.Errorf("each copy of %d bytes was over before a send began", stallSize)
	}
	slices.Sort(s.took)
	at := func(part float64) float64 {
		return microsecondsOf(s.took[int(math.Ceil(part*float64(len(s.took))))-1], 1)
	}
	m.print(len(s.took), at(0.5), "us", "at=p50")
	m.print(len(s.took), at(0.999), "us", "at=p99.9")
	m.print(len(s.took), at(1), "us", "at=max")
	m.print(stalls, microsecondsOf(s.shortest, 1), "us", "at=stall")
	return nil
}

// Phases of one stall.
const (
	before = iota
	copying
	after
)

type stall struct {
	f        *engine.Fabric
	out, in  []byte
	shortest time.Duration   // of the stalls
	took     []time.Duration // of the sends
	phase    atomic.Uint32
}

// receive has the inner half of port 0 copy.
func (s *stall) receive() error {
	p, e := s.f.Port(0), engine.Envelope{Context: 1, Peer: 1}
	if _, err := p.Probe(e); err != nil {
		return err
	}
	begin := time.Now()
	s.phase.Store(copying)
	_, err := p.Recv(s.in, e)
	s.phase.Store(after)
	if took := time.Since(begin); s.shortest == 0 || took < s.shortest {
		s.shortest = took
	}
	return err
}

// send measures sends that start while it does.
func (s *stall) send() error {
	for s.phase.Load() == before {
		time.Sleep(10 * time.Microsecond)
	}
	time.Sleep(time.Millisecond)
	var messages [perStall][8]byte // each is the engine's until its send is done
	var requests [perStall]engine.Request
	sent := 0
	for ; sent < perStall && s.phase.Load() == copying; sent++ {
		stamp(messages[sent][:], uint64(sent))
		begin := time.Now()
		var err error
		if requests[sent], err = s.f.Port(0).Isend(messages[sent][:], engine.Envelope{Peer: 1}); err != nil {
			return err
		}
		s.took = append(s.took, time.Since(begin))
	}
	if err := engine.WaitAll(requests[:sent], nil); err != nil {
		return err
	}
	return s.f.Port(0).Send(nil, engine.Envelope{Peer: 1}) // the last
}

// peer sends the large message and receives the others, in order.
func (s *stall) peer() error {
	p := s.f.Port(1)
	large, err := p.Isend(s.out, engine.Envelope{Context: 1, Peer: 0})
	if err != nil {
		return err
	}
	for n := uint64(0); ; n++ {
		var message [8]byte
		status, err := p.Recv(message[:], engine.Envelope{Peer: 0})
		if err != nil {
			return err
		}
		if status.Bytes == 0 {
			break
		}
		if err := stamped(message[:], n); err != nil {
			return err
		}
	}
	_, err = large.Wait()
	return err
}

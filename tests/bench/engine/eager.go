// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/endpoints/engine/shm"
	"github.com/tpsl/tpsl/endpoints/engine/tcp"
	"github.com/tpsl/tpsl/tests/bench/report"
)

// The ways that a message may take, of which a carrier chooses one by the message's size.
const (
	byPacket     = "Eager/mode=packet"
	byRendezvous = "Eager/mode=rendezvous"
	memoryPacket = "Eager/carrier=memory/mode=packet"
	memoryRead   = "Eager/carrier=memory/mode=read"
	memoryParts  = "Eager/carrier=memory/mode=parts"
	tcpSent      = "Eager/carrier=tcp/mode=sent"
	tcpAsked     = "Eager/carrier=tcp/mode=asked"
)

func init() {
	register(bench{
		name: "Eager",
		about: "half a round trip by each way that a message may take, by size: where Options.Eager, shm.Options.Packet and tcp.Options.Eager should " +
			"lie on this machine, which is where the ratio of two ways passes 1",
		limit: 30 * time.Second,
		sides: func(plan) []string {
			return []string{byPacket, byRendezvous, memoryPacket, memoryRead, memoryParts, tcpSent, tcpAsked}
		},
		measure: measureEager,
		cores:   2,
		goals:   crossings(),
	})
}

// crossings are the ratios of two ways, where both may be taken. None is a goal.
func crossings() (all []report.Goal) {
	const most = 256 << 10
	for _, c := range []struct {
		what, way, other string
		from, to         int
	}{
		{"between threads, by packet/by rendezvous", byPacket, byRendezvous, 64, most},
		{"between processes, in a packet/read by the receiver", memoryPacket, memoryRead, 4 << 10, most},
		{"between processes, in parts/read by the receiver", memoryParts, memoryRead, 64 << 10, most},
		{"over TCP, sent/asked for", tcpSent, tcpAsked, 64, 16 << 10},
	} {
		for size := c.from; size <= c.to; size *= 4 {
			key := fmt.Sprintf("/size=%d", size)
			all = append(all, report.Goal{What: fmt.Sprintf("%d B %s", size, c.what), Name: c.way + key, Base: c.other + key})
		}
	}
	return all
}

// measureEager sends every size in the side's way, whatever the way usually is.
func measureEager(m *meter) error {
	switch m.side.Get("carrier") {
	case "memory":
		return m.eagerMemory()
	case "tcp":
		return m.eagerTCP()
	}
	eager := largestEager
	if m.side.Get("mode") == "rendezvous" {
		eager = -1
	}
	f, err := engine.New(engine.Options{Ports: 2, Eager: eager})
	if err != nil {
		return err
	}
	defer f.Close()
	return m.eachSize(func(size, rounds int) (time.Duration, error) { return m.pingPong(f, size, rounds) })
}

const largestEager = 256 << 10

func (m *meter) eachSize(toAndFro func(size, rounds int) (time.Duration, error)) error {
	for size := 64; size <= largestEager; size *= 4 {
		rounds, took, err := m.repeat(func(rounds int) (time.Duration, error) { return toAndFro(size, rounds) })
		if err != nil {
			return err
		}
		m.print(2*rounds, microsecondsOf(took, 2*rounds), "us/msg", fmt.Sprintf("size=%d", size))
	}
	return nil
}

// eachOrdered is eachSize with a process that obeys.
func (m *meter) eachOrdered(port *engine.Port) error {
	err := m.eachSize(func(size, rounds int) (time.Duration, error) {
		if err := order(port, doVolley, size, rounds); err != nil {
			return 0, err
		}
		return volley(port, size, rounds)
	})
	return errors.Join(err, order(port, doEnd, 0, 0))
}

func (m *meter) eagerMemory() error {
	if m.side.Get("rank") == "1" {
		return m.follow()
	}
	port, end, err := m.lead()
	if err != nil {
		return err
	}
	return errors.Join(m.eachOrdered(port), end())
}

// segment are the options by which messages take the side's way between processes of a host.
func (m *meter) segment() (o shm.Options) {
	o.Streams = m.side.Get("large") == "parts"
	switch m.side.Get("mode") {
	case "packet":
		o.Packet = largestEager
	case "read":
		o.Packet = 1 << 10
	case "parts":
		o.Streams = true
	}
	return o
}

func (m *meter) eagerTCP() error {
	if m.side.Get("rank") == "" {
		return m.inNamespaces()
	}
	rank, err := strconv.Atoi(m.side.Get("rank"))
	if err != nil {
		return err
	}
	o := tcp.Options{Eager: 64 << 10}
	if m.side.Get("mode") == "asked" {
		o.Eager = 1
	}
	port, leave, err := m.partTCP(rank, 1, o)
	if err != nil {
		return err
	}
	if rank == 0 {
		m.side.Keys = m.side.Keys[:len(m.side.Keys)-1] // but for the rank
		err = m.eachOrdered(port)
	} else {
		err = m.obey(port)
	}
	return errors.Join(err, leave())
}

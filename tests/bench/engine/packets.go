// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine/packet"
	"github.com/tpsl/tpsl/tests/bench/report"
)

func init() {
	register(bench{
		name:  "Packets",
		about: "a packet taken, filled and given back, by pool and threads",
		limit: 30 * time.Second,
		sides: func(plan) (sides []string) {
			for _, pool := range []string{"private", "shared", "sync.Pool", "mutex"} {
				sides = append(sides, "Packets/pool="+pool)
			}
			return sides
		},
		measure: measurePackets,
		goals: []report.Goal{
			{What: "packet taken and given back, 2 threads, private/one list under a mutex", Name: "Packets/pool=private/threads=2", Base: "Packets/pool=mutex/threads=2", AtMost: 1},
			{What: "packet taken and given back, 2 threads, private/sync.Pool", Name: "Packets/pool=private/threads=2", Base: "Packets/pool=sync.Pool/threads=2"},
			{What: "packet taken and given back, 2 threads, shared/private", Name: "Packets/pool=shared/threads=2", Base: "Packets/pool=private/threads=2"},
		},
	})
}

const packetBytes = 1024

// measurePackets prints the time per packet of each thread.
func measurePackets(m *meter) error {
	for _, threads := range m.threads {
		use, err := packetUser(m.side.Get("pool"), threads)
		if err != nil {
			return err
		}
		rounds, took, err := m.repeat(func(rounds int) (time.Duration, error) {
			begin := time.Now()
			err := m.together(threads, func(thread int) error {
				for k := range rounds {
					use(thread, byte(k))
				}
				return nil
			})
			return time.Since(begin), err
		})
		if err != nil {
			return err
		}
		m.print(rounds, nanosecondsOf(took, rounds), "ns/packet", fmt.Sprintf("threads=%d", threads))
	}
	return nil
}

// packetUser returns what a thread does with one packet: it takes it, fills it and gives it back.
func packetUser(pool string, threads int) (func(thread int, fill byte), error) {
	const packets = 1024
	type buffer [packetBytes]byte
	fill := func(b []byte, with byte) {
		for i := 0; i < packetBytes; i += 64 {
			b[i] = with
		}
	}
	switch pool {
	case "sync.Pool":
		p := sync.Pool{New: func() any { return new(buffer) }}
		return func(_ int, with byte) {
			b := p.Get().(*buffer)
			fill(b[:], with)
			p.Put(b)
		}, nil
	case "mutex":
		var lock sync.Mutex
		list := make([]*buffer, packets)
		for i := range list {
			list[i] = new(buffer)
		}
		return func(_ int, with byte) {
			lock.Lock()
			b := list[len(list)-1]
			list = list[:len(list)-1]
			lock.Unlock()
			fill(b[:], with)
			lock.Lock()
			list = append(list, b)
			lock.Unlock()
		}, nil
	}
	p, err := packet.New(packet.Options{Workers: threads, Packets: packets, Size: packetBytes})
	if err != nil {
		return nil, err
	}
	if pool == "shared" {
		return func(_ int, with byte) {
			i := p.GetShared()
			fill(p.Data(i), with)
			p.PutShared(i)
		}, nil
	}
	return func(thread int, with byte) {
		i := p.Get(thread)
		fill(p.Data(i), with)
		p.Put(thread, i)
	}, nil
}

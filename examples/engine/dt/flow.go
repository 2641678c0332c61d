// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/examples/engine/internal/crew"
)

// Contexts of messages: their lengths, and the data.
const (
	lengths = iota + 1
	values
)

// evaluate runs the graph on a crew, and returns the sinks' sum and the bytes sent, where rank 0 is.
func evaluate(o crew.Options, c class, g graph, rounds int) (is crew.Outcome, sum float64, bytes int64, err error) {
	is, err = crew.Run(o, func(m *crew.Member) error {
		for range rounds {
			totals, err := c.flow(m, g)
			if err != nil {
				return err
			}
			if m.Rank == 0 {
				sum, bytes = float64(totals[0]), bytes+totals[1]
			}
		}
		return nil
	})
	return is, sum, bytes, err
}

// flow does this thread's nodes, in order, and returns the sum of all sinks and the bytes that all sent.
func (c class) flow(m *crew.Member, g graph) (totals [2]int64, err error) {
	var sends sends
	for i, n := range g {
		if i%m.Size != m.Rank {
			continue
		}
		in := make([][]float64, len(n.in))
		for j, a := range n.in {
			if in[j], err = receive(m, a); err != nil {
				return totals, err
			}
		}
		switch n.role {
		case source:
			err = sends.send(m, n.out, c.make(i))
		case comparator:
			err = sends.send(m, n.out, c.combine(i, in))
		case sink:
			totals[0] += int64(reduce(i, in)) // whole numbers
		}
		if err != nil {
			return totals, err
		}
	}
	if err := engine.WaitAll(sends.requests, nil); err != nil {
		return totals, fmt.Errorf("rank %d: send: %w", m.Rank, err)
	}
	totals[1] = sends.bytes
	return totals, m.Sum(totals[:])
}

// sends are messages on their way, whose data must stay.
type sends struct {
	requests []engine.Request
	lengths  [][]int64
	bytes    int64
}

// send starts to send data along the arcs, after its length. A thread may send to itself.
func (s *sends) send(m *crew.Member, out []arc, data []float64) error {
	length := []int64{int64(len(data))}
	s.lengths = append(s.lengths, length)
	for _, a := range out {
		if err := s.start(m, lengths, a, crew.Bytes(length)); err != nil {
			return err
		}
		if err := s.start(m, values, a, crew.Bytes(data)); err != nil {
			return err
		}
	}
	return nil
}

func (s *sends) start(m *crew.Member, context uint32, a arc, message []byte) error {
	r, err := m.Port.Isend(message, engine.Envelope{Context: context, Peer: int32(a.peer % m.Size), Tag: int32(a.number)})
	if err != nil {
		return fmt.Errorf("rank %d: send: %w", m.Rank, err)
	}
	s.requests, s.bytes = append(s.requests, r), s.bytes+int64(len(message))
	return nil
}

// receive receives what an arc brings. It is a message, and so a copy, even between nodes of one thread: whoever takes
// data changes them.
func receive(m *crew.Member, a arc) ([]float64, error) {
	from := a.peer % m.Size
	length, _, err := crew.Receive(m, lengths, from, a.number, make([]int64, 1))
	if err != nil {
		return nil, err
	}
	data := make([]float64, length[0])
	came, _, err := crew.Receive(m, values, from, a.number, data)
	if err == nil && len(came) != len(data) {
		err = fmt.Errorf("rank %d: %d values came, not %d", m.Rank, len(came), len(data))
	}
	return came, err
}

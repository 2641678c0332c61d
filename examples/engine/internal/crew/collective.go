// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package crew

import (
	"fmt"

	"github.com/tpsl/tpsl/endpoints/engine"
)

// Tags of the crew's context.
const (
	tagGather = iota
	tagSpread
)

// Send sends values to a rank, in a context of the caller's.
func Send[T Plain](m *Member, context uint32, to, tag int, values []T) error {
	if err := m.Port.Send(Bytes(values), engine.Envelope{Context: context, Peer: int32(to), Tag: int32(tag)}); err != nil {
		return fmt.Errorf("rank %d: send to %d: %w", m.Rank, to, err)
	}
	return nil
}

// Receive receives values from a rank, or from any, and returns those that came and whose they are.
func Receive[T Plain](m *Member, context uint32, from, tag int, values []T) (came []T, s engine.Status, err error) {
	s, err = m.Port.Recv(Bytes(values), engine.Envelope{Context: context, Peer: int32(from), Tag: int32(tag)})
	if err != nil {
		return nil, s, fmt.Errorf("rank %d: receive from %d: %w", m.Rank, from, err)
	}
	return values[:s.Bytes/sizeOf[T]()], s, nil
}

// Sum adds up all ranks' values, and gives the sums to all. It is a barrier, too.
func (m *Member) Sum(values []int64) error {
	if m.Rank != 0 {
		if err := Send(m, 0, 0, tagGather, values); err != nil {
			return err
		}
		_, _, err := Receive(m, 0, 0, tagSpread, values)
		return err
	}
	part := make([]int64, len(values))
	for rank := 1; rank < m.Size; rank++ {
		if _, _, err := Receive(m, 0, rank, tagGather, part); err != nil {
			return err
		}
		for i, v := range part {
			values[i] += v
		}
	}
	for rank := 1; rank < m.Size; rank++ {
		if err := Send(m, 0, rank, tagSpread, values); err != nil {
			return err
		}
	}
	return nil
}

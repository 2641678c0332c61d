// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine/match"
	"github.com/tpsl/tpsl/tests/bench/report"
)

func init() {
	register(bench{
		name:  "Table",
		about: "matching alone, by what is pending, beside two bare accesses to as much memory",
		limit: 30 * time.Second,
		sides: func(plan) []string {
			return []string{"Table/matcher=table", "Table/matcher=queues", "Table/matcher=memory"}
		},
		measure: measureTable,
		goals: []report.Goal{
			{What: "match of one of 10^5 receives, table/two accesses to as much memory", Name: "Table/matcher=table/pending=100000", Base: "Table/matcher=memory/pending=100000", AtMost: 2},
			{What: "match of one of 10^4 receives over one of 10, table", Name: "Table/matcher=table/pending=10000", Base: "Table/matcher=table/pending=10", AtMost: 3},
			{What: "match of one of 10^4 receives over one of 10, queues", Name: "Table/matcher=queues/pending=10000", Base: "Table/matcher=queues/pending=10"},
			{What: "match of one of 10 receives, table/queues", Name: "Table/matcher=table/pending=10", Base: "Table/matcher=queues/pending=10"},
		},
	})
}

// measureTable brings a message for one of the pending receives, by chance, and posts the receive again.
func measureTable(m *meter) error {
	for pending := uint64(10); pending <= 100_000; pending *= 10 {
		match := matchSome
		if m.side.Get("matcher") == "memory" {
			match = accessSome
		}
		rounds, took, err := match(m, pending)
		if err != nil {
			return err
		}
		m.print(rounds, nanosecondsOf(took, rounds), "ns/match", fmt.Sprintf("pending=%d", pending))
	}
	return nil
}

// chance is a generator of numbers that is cheap beside what it is for: Knuth's MMIX.
type chance uint64

// below returns a number from 0 to n-1.
func (c *chance) below(n uint64) uint64 {
	*c = *c*6364136223846793005 + 1442695040888963407
	return uint64(*c) >> 33 * n >> 31
}

func matchSome(m *meter, pending uint64) (rounds int, took time.Duration, err error) {
	kind := match.HashTable
	if m.side.Get("matcher") == "queues" {
		kind = match.TwoQueues
	}
	nodes := &match.Nodes{}
	matcher := match.New(kind, nodes, int(pending))
	message := nodes.Add()
	for tag := range pending {
		i := nodes.Add()
		nodes.At(i).Tag, nodes.At(i).Value = int32(tag), tag
		matcher.Post(i)
	}
	random := chance(1)
	return m.repeat(func(rounds int) (time.Duration, error) {
		begin := time.Now()
		for range rounds {
			tag := random.below(pending)
			nodes.At(message).Tag = int32(tag)
			receive := matcher.Arrive(message)
			if receive == match.None || nodes.At(receive).Value != tag {
				return 0, errors.New("a message found another's receive")
			}
			matcher.Post(receive)
		}
		return time.Since(begin), nil
	})
}

// accessSome reads a line by chance in as much memory as the table's buckets take, and then one that
// it names in as much as the nodes take, and writes both. Each access waits for the one before it.
func accessSome(m *meter, pending uint64) (rounds int, took time.Duration, err error) {
	type line [8]uint64
	first, second := make([]line, 5*pending/4), make([]line, pending)
	for i := range first {
		first[i][0] = uint64(i) % pending
	}
	random, zero := chance(1), uint64(0)
	return m.repeat(func(rounds int) (time.Duration, error) {
		begin := time.Now()
		for range rounds {
			a := &first[random.below(uint64(len(first)))+zero]
			a[1]++
			b := &second[a[0]]
			b[1]++
			zero = b[0]
		}
		return time.Since(begin), nil
	})
}

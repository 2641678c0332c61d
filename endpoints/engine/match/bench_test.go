// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkMatch brings a message for one of many pending receives and posts the
// receive again: order=posted, in the order of posting; order=random, for any.
func BenchmarkMatch(b *testing.B) {
	for _, kind := range []string{"shared", "table", "queues"} {
		for _, order := range []string{"posted", "random"} {
			for pending := 10; pending <= 100000; pending *= 10 {
				b.Run(fmt.Sprintf("matcher=%s/order=%s/pending=%d", kind, order, pending), func(b *testing.B) {
					nodes := &Nodes{}
					benchmarkMatch(b, nodes, matchers(pending)[kind](nodes), order == "random", pending)
				})
			}
		}
	}
}

func benchmarkMatch(b *testing.B, nodes *Nodes, m matcher, random bool, pending int) {
	arrival := nodes.Add()
	for k := range pending {
		m.Post(add(nodes, Envelope{Peer: int32(k % 100), Tag: int32(k / 100)}, 0))
	}
	order := make([]Envelope, 1<<16/pending*pending+pending)
	for k := range order {
		tag := k % pending
		if random {
			tag = rand.IntN(pending)
		}
		order[k] = Envelope{Peer: int32(tag % 100), Tag: int32(tag / 100)}
	}
	b.ReportAllocs()
	b.ResetTimer()
	for k := range b.N {
		nodes.At(arrival).Envelope = order[k%len(order)]
		receive := m.Arrive(arrival)
		if receive == None || m.Post(receive) != None {
			b.Fatal("no match")
		}
	}
}

// BenchmarkWildcard matches messages with a receive from any source, which is posted
// before and after in turns, while exact receives are pending.
func BenchmarkWildcard(b *testing.B) {
	for _, kind := range []string{"shared", "table", "queues"} {
		for _, pending := range []int{0, 1000} {
			b.Run(fmt.Sprintf("matcher=%s/pending=%d", kind, pending), func(b *testing.B) {
				nodes := &Nodes{}
				m := matchers(max(pending, 64))[kind](nodes)
				for k := range pending {
					m.Post(add(nodes, Envelope{Peer: 1, Tag: int32(k)}, 0))
				}
				r := add(nodes, Envelope{Context: 1, Peer: AnySource, Tag: 1}, 0)
				s := add(nodes, Envelope{Context: 1, Peer: 7, Tag: 1}, 0)
				for range b.N {
					posted, second := m.Post(r), m.Arrive(s)
					arrived, fourth := m.Arrive(s), m.Post(r)
					if posted != None || second != r || arrived != None || fourth != s {
						b.Fatal("no match")
					}
				}
			})
		}
	}
}

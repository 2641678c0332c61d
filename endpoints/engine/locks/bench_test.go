// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package locks

import (
	"fmt"
	"sync"
	"testing"
)

// BenchmarkLock takes and frees each lock, by one thread and by more than there are CPUs.
// sync.Mutex stands beside them.
func BenchmarkLock(b *testing.B) {
	var mcs MCS
	near := NewHMCS(1)
	var flag Flag
	var csync CSync[int]
	var mutex sync.Mutex
	for _, c := range []struct {
		name string
		turn func(n *Node, e *Entry[int])
	}{
		{"mutex", func(*Node, *Entry[int]) { mutex.Lock(); shared++; mutex.Unlock() }},
		{"mcs", func(n *Node, _ *Entry[int]) { mcs.Acquire(n); shared++; mcs.Release(n) }},
		{"hmcs", func(n *Node, _ *Entry[int]) { near.Acquire(n, 0); shared++; near.Release(n, 0) }},
		{"flag", func(*Node, *Entry[int]) {
			flag.Acquire()
			shared++
			flag.Release()
		}},
		{"csync", func(_ *Node, e *Entry[int]) {
			if csync.Do(e, &shared) {
				for ; e != nil; e = csync.Next(e) {
					*e.Item++
				}
			}
		}},
	} {
		for _, threads := range []int{1, 2, 8} {
			b.Run(fmt.Sprintf("%s/threads=%d", c.name, threads), func(b *testing.B) {
				shared = 0
				crowd(threads, func(int) {
					var n Node
					var e Entry[int]
					for range b.N {
						c.turn(&n, &e)
					}
				})
				if shared != threads*b.N {
					b.Fatalf("%d turns of %d", shared, threads*b.N)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(shared), "ns/turn")
			})
		}
	}
}

// shared is what the locks guard.
var shared int

// BenchmarkQueue puts and takes one item.
func BenchmarkQueue(b *testing.B) {
	q := newQueue()
	e, item := new(Entry[op]), new(op)
	for range b.N {
		q.Put(e, item)
		_, e = q.Take()
	}
}

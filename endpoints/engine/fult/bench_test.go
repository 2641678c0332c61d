// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package fult

import (
	"fmt"
	"runtime/debug"
	"testing"
)

// The time of a signal and the switch to the thread signalled, in a ring of threads.
func BenchmarkRing(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, n := range []int{2, 64, 1000, 10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { ring(b, n) })
	}
}

func ring(b *testing.B, n int) {
	w := NewWorker(n)
	bits := make([]Bit, n)
	left := b.N + n
	done := false
	for i := range n {
		t := create(b, w, func(me *Thread) {
			next := &bits[(i+1)%n]
			for !done {
				me.Wait()
				if left--; left == b.N {
					b.ResetTimer()
				}
				if left == 0 {
					done = true
					b.StopTimer()
				}
				next.Set()
			}
		})
		bits[i] = t.Bit()
	}
	first := bits[0]
	started := false
	w.Poll = func() bool {
		if !started {
			started = true
			first.Set()
		}
		return false
	}
	if err := w.Run(); err != nil {
		b.Fatal(err)
	}
}

// All threads ready, all of the time.
func BenchmarkYield(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, n := range []int{2, 64, 1000, 10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := NewWorker(n)
			left := b.N
			for range n {
				create(b, w, func(me *Thread) {
					me.Yield()
					for left > 0 {
						left--
						me.Yield()
					}
				})
			}
			passes := 0
			w.Poll = func() bool {
				if passes++; passes == 1 {
					b.ResetTimer()
				}
				if left == 0 {
					b.StopTimer()
				}
				return false
			}
			if err := w.Run(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

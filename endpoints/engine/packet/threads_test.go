// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package packet

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Threads take and give packets all over the place; a packet has one holder at a
// time, and at the end all are there once.
func TestPacketsAreNeitherLostNorDoubled(t *testing.T) {
	const workers, packets, steps = 4, 3 * depth, 60000
	p := newPool(t, workers, packets)
	holder := make([]atomic.Int32, packets+1)
	var group sync.WaitGroup
	for g := range workers + 2 { // the last two are the receiving side
		group.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 1))
			var held []uint32
			for step := range steps {
				worker := g
				if r.IntN(16) == 0 {
					worker = r.IntN(workers)
				}
				if worker >= workers {
					worker = receiving
				}
				if want := 40 + 60*(step/1000%2); r.IntN(100) < want {
					i := get(p, worker)
					if i == None {
						continue
					}
					if !holder[i].CompareAndSwap(0, int32(g+1)) {
						t.Errorf("packet %d has two holders", i)
						return
					}
					binary.LittleEndian.PutUint64(p.Data(i), uint64(g)<<32|uint64(i)) // the race detector looks on
					held = append(held, i)
				} else if n := len(held); n > 0 {
					k := r.IntN(n)
					i := held[k]
					held[k] = held[n-1]
					held = held[:n-1]
					giveUp(t, p, holder, g, worker, i)
				}
			}
			for _, i := range held {
				giveUp(t, p, holder, g, receiving, i)
			}
		})
	}
	group.Wait()
	seen := take(t, p, packets)
	assert.Equal(t, None, p.GetShared())
	slices.Sort(seen)
	assert.Len(t, slices.Compact(seen), packets)
}

// get and put: worker 64 is the receiving side.
func get(p *Pool, worker int) uint32 {
	if worker == receiving {
		return p.GetShared()
	}
	return p.Get(worker)
}

func put(p *Pool, worker int, i uint32) {
	if worker == receiving {
		p.PutShared(i)
		return
	}
	p.Put(worker, i)
}

const receiving = maxPrivate

func giveUp(t *testing.T, p *Pool, holder []atomic.Int32, g, worker int, i uint32) {
	if binary.LittleEndian.Uint64(p.Data(i)) != uint64(g)<<32|uint64(i) || !holder[i].CompareAndSwap(int32(g+1), 0) {
		t.Errorf("packet %d was another's meanwhile", i)
	}
	put(p, worker, i)
}

// With as many packets as threads, of which none holds two, one is always free, so
// nobody may be told that none is, though it moves about.
func TestNobodyGoesWithoutWhileOneIsFree(t *testing.T) {
	const threads, workers, steps = 2, 64, 50000 // a thief's round over so many pools takes long
	p := newPool(t, workers, threads)
	var group sync.WaitGroup
	var nones atomic.Int64
	for g := range threads {
		group.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 2))
			for range steps {
				if i := get(p, r.IntN(workers+1)); i == None {
					nones.Add(1)
				} else {
					put(p, r.IntN(workers), i)
				}
			}
		})
	}
	group.Wait()
	assert.Zero(t, nones.Load())
}

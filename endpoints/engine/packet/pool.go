// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package packet

import (
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"
)

// None is no packet. The packets are 1, 2, 3...
const None uint32 = 0

// Options describe a pool.
type Options struct {
	Workers int // how many there are: 0, 1, 2...
	Packets int // how many packets there are in all
	Size    int // bytes of each, rounded up to cache lines
}

// maxPrivate bounds the private pools, and so how long a theft may take. More workers
// than that share them.
const maxPrivate = 64

// Pool is a set of packets. Its own fields do not change but for the last two.
type Pool struct {
	private []deque // a power of two
	slab    []byte
	size    int
	next    []atomic.Uint32 // of a packet in the shared pool: the one below it
	_       [line]byte

	shared atomic.Uint64 // stack: turn<<32 | packet on top
	_      [line]byte
	victim atomic.Uint32 // whom to steal from next
	_      [line]byte
}

// maxSlab bounds the bytes of all packets.
const maxSlab = 64 << 30

// New makes a pool whose packets are all shared.
func New(o Options) (*Pool, error) {
	if o.Workers < 0 || o.Packets < 1 || o.Packets > math.MaxInt32 || o.Size < 1 || o.Size > maxSlab/o.Packets {
		return nil, fmt.Errorf("packet pool of %d packets of %d bytes for %d workers: give positive numbers, and at most %d bytes in all",
			o.Packets, o.Size, o.Workers, maxSlab)
	}
	size := (o.Size + line - 1) &^ (line - 1)
	private := 0
	if o.Workers > 0 {
		private = 1 << bits.Len(uint(min(o.Workers, maxPrivate)-1))
	}
	p := &Pool{size: size, slab: pages(o.Packets * size), next: make([]atomic.Uint32, o.Packets+1), private: deques(private)}
	for i := o.Packets; i > 0; i-- {
		p.push(uint32(i))
	}
	return p, nil
}

// Data returns the bytes of packet i.
func (p *Pool) Data(i uint32) []byte {
	at := int(i-1) * p.size
	return p.slab[at : at+p.size : at+p.size]
}

// of returns the private pool of a worker.
func (p *Pool) of(worker int) *deque { return &p.private[worker&(len(p.private)-1)] }

// Get takes a packet for a worker: the one that it put back last, else a shared one.
func (p *Pool) Get(worker int) uint32 {
	if i := p.of(worker).popTop(); i != None {
		return i
	}
	return p.GetShared()
}

// Put gives packet i back to a worker's private pool. If that is full, the packet that
// has been there longest becomes a shared one.
func (p *Pool) Put(worker int, i uint32) {
	d := p.of(worker)
	d.lock.Acquire()
	if d.n == depth {
		p.push(d.pull()) // with the lock held: steal counts on it
	}
	d.push(i)
	d.lock.Release()
}

// GetShared takes a shared packet, for the receiving side; if there is none, it steals.
// None is the answer only if there was a time without any: if a second round over the
// private pools finds that nothing was put there since the first, and the shared pool
// is the one that was empty before both.
func (p *Pool) GetShared() uint32 {
	for {
		i, word := p.pop()
		if i != None {
			return i
		}
		i, before := p.steal()
		if i != None {
			return i
		}
		i, after := p.steal()
		if i != None || before == after && p.shared.Load() == word {
			return i
		}
	}
}

// PutShared gives packet i back from the receiving side.
func (p *Pool) PutShared(i uint32) { p.push(i) }

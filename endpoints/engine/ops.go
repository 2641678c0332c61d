// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/tpsl/tpsl/endpoints/engine/fult"
	"github.com/tpsl/tpsl/endpoints/engine/match"
)

// firstChunk is how many ops the first chunk of a pool holds. Each further chunk doubles
// the pool.
const firstChunk = 16

const line = 64 // bytes of a cache line

// A pool holds a port's ops. They never move and are never given back to the system,
// so that an index, from 1 on, names one for ever. In model Private it is a list; in
// the others any thread takes and gives, by a stack whose head carries a count
// against the return of an old head.
type pool struct {
	port   *Port
	shared bool
	list   *op // Private
	_      [line]byte
	head   atomic.Uint64 // others: count<<32 | index of the top op, 0 for none
	_      [line]byte
	nodes  match.Nodes // for matching, one for each op
	grow   sync.Mutex  // as it is extended, which is no message's business
	size   uint32
	chunks [24]atomic.Pointer[[]op]
	seats  [24]atomic.Pointer[[]seat] // shared: one for each op
}

// at returns the op with this index. Any thread may call it.
func (l *pool) at(index uint32) *op {
	chunk, offset := place(index)
	return &(*l.chunks[chunk].Load())[offset]
}

// place returns where the op with this index is. Chunk 0 has the first firstChunk
// ops, chunk k as many as all before it.
func place(index uint32) (chunk int, offset uint32) {
	n := index - 1
	chunk = max(bits.Len32(n), bits.Len32(firstChunk)-1) - (bits.Len32(firstChunk) - 1)
	if chunk == 0 {
		return 0, n
	}
	return chunk, n - firstChunk<<(chunk-1)
}

// get returns a free op for its next turn.
func (l *pool) get() *op {
	o := l.fetch()
	o.begin()
	return o
}

// fetch returns a free op for its next turn, which has yet to begin.
func (l *pool) fetch() *op {
	o := l.list
	if o == nil {
		return l.pop()
	}
	l.list = o.next
	return o
}

// put gives an op back and makes handles on it stale: its word says already what it
// says when the op is posted next.
func (l *pool) put(o *op) {
	o.turn++
	if l.shared {
		o.word.Store(wordOf(o.turn, pending))
	}
	o.buf = nil
	if o.bit.Valid() {
		o.bit = fult.Bit{}
	}
	o.ready, o.notify = false, false
	l.push(o, o)
}

// pop is fetch in a pool that threads share, and where all ops are in use.
func (l *pool) pop() *op {
	for {
		head := l.head.Load()
		if uint32(head) == 0 {
			if l.extend(); !l.shared {
				return l.fetch()
			}
			continue
		}
		o := l.at(uint32(head))
		below := uint64(o.below.Load())
		if l.head.CompareAndSwap(head, (head>>32+1)<<32|below) {
			return o
		}
	}
}

// push puts ops, linked from first to last, on top of the free ones.
func (l *pool) push(first, last *op) {
	if !l.shared {
		last.next, l.list = l.list, first
		return
	}
	for {
		head := l.head.Load()
		last.below.Store(uint32(head))
		if l.head.CompareAndSwap(head, (head>>32+1)<<32|uint64(first.index)) {
			return
		}
	}
}

// extend adds a chunk of free ops, unless another thread just did.
func (l *pool) extend() {
	l.grow.Lock()
	defer l.grow.Unlock()
	if uint32(l.head.Load()) != 0 {
		return
	}
	chunk, _ := place(l.size + 1)
	ops := l.port.fabric.ops.take(int(max(l.size, firstChunk)))
	for i := range ops {
		o := &ops[i]
		o.port, o.index = l.port, l.nodes.Add()
		o.match = l.nodes.At(o.index)
		if i > 0 {
			ops[i-1].next = o
			ops[i-1].below.Store(o.index)
		}
	}
	l.size += uint32(len(ops))
	if l.shared {
		l.seats[chunk].Store(newSeats(ops, &l.port.fabric.seats))
	}
	l.chunks[chunk].Store(&ops)
	l.push(&ops[0], &ops[len(ops)-1])
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"math/bits"
	"sync"
)

// Buffers are what is kept until it is acknowledged or taken: pieces of memory whose sizes are powers of two. What was
// once made is used again. Any thread may call them.
type Buffers struct {
	lock sync.Mutex
	free [64][][]byte // by the logarithm of the size
}

// Get returns an empty buffer with room for n bytes.
func (b *Buffers) Get(n int) []byte {
	class := bits.Len(uint(max(n, 64) - 1))
	b.lock.Lock()
	defer b.lock.Unlock()
	f := b.free[class]
	if len(f) == 0 {
		return make([]byte, 0, 1<<class)
	}
	taken := f[len(f)-1]
	b.free[class] = f[:len(f)-1]
	return taken[:0]
}

// Put gives a buffer of Get back.
func (b *Buffers) Put(buf []byte) {
	class := bits.Len(uint(cap(buf)) - 1)
	b.lock.Lock()
	defer b.lock.Unlock()
	b.free[class] = append(b.free[class], buf)
}

// Spare returns how many bytes wait to be used again.
func (b *Buffers) Spare() (bytes int) {
	b.lock.Lock()
	defer b.lock.Unlock()
	for _, f := range b.free {
		for _, buf := range f {
			bytes += cap(buf)
		}
	}
	return bytes
}

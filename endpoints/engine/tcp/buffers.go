// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"math/bits"
	"sync"
)

// buffers are what streams are kept in until they are acknowledged, and messages until they are
// taken: pieces of memory whose sizes are powers of two. What was once made is used again.
type buffers struct {
	lock sync.Mutex
	free [64][][]byte // by the logarithm of the size
}

// get returns an empty buffer with room for n bytes.
func (b *buffers) get(n int) []byte {
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

// put gives a buffer of get back.
func (b *buffers) put(buf []byte) {
	class := bits.Len(uint(cap(buf)) - 1)
	b.lock.Lock()
	defer b.lock.Unlock()
	b.free[class] = append(b.free[class], buf)
}

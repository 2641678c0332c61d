// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package fult

import "sync/atomic"

// Bit is one thread's place in the ready set of its worker. It may be copied;
// the zero Bit belongs to no thread, and Valid tells.
//
// 40 bytes: word 0, mask 8, hint 16, hintMask 24, bell 32.
type Bit struct {
	word     *atomic.Uint64 // 64 threads of the first level
	mask     uint64         // this thread's bit of word
	hint     *atomic.Uint64 // second level: a bit for each line of the first
	hintMask uint64
	bell     *Bell
}

// Valid tells whether b stands for a thread.
func (b *Bit) Valid() bool { return b.word != nil }

// Set is the signal: the thread becomes ready to run, if it is not yet. Whatever
// the caller wrote before is seen by the thread as it runs.
//
// The first level comes first: a worker that takes the hint finds the thread.
// The hint that is already up was not yet taken, or the caller would find it
// down, so whoever takes it finds the thread too, and rings for it.
func (b *Bit) Set() {
	b.word.Or(b.mask)
	if b.hint.Load()&b.hintMask != 0 {
		return
	}
	b.hint.Or(b.hintMask)
	b.bell.Ring()
}

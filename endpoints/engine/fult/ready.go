// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package fult

import (
	"math/bits"
	"sync/atomic"
)

const (
	wordThreads = 64               // threads in a word of the first level
	lineWords   = 8                // words in a line, which a hint bit stands for
	lineThreads = lineWords * 64   // 512
	hintThreads = 64 * lineThreads // 32768: threads of a word of the second level
)

// line is a cache line of the first level.
type line [lineWords]atomic.Uint64

// ready is the set of a worker's threads that are ready to run: a bit a thread,
// and a hint for each 512 of them. Everybody sets bits, the worker alone takes
// them: see docs/endpoints/ready-set.md.
type ready struct {
	lines []line
	hints []atomic.Uint64

	// The worker's own: where it is in its round, and the snapshots it works off.
	// cursor counts hint words, hint holds the lines of the word before cursor
	// still to visit, at is the next word of the line in hand.
	cursor int
	hint   uint64
	line   int
	at     int
	word   uint64
	base   int // the thread of bit 0 of word
}

// newReady returns a set for at least the given number of threads, none ready.
func newReady(threads int) *ready {
	words := (threads + hintThreads - 1) / hintThreads
	lines := min(words*64, (threads+lineThreads-1)/lineThreads)
	return &ready{lines: make([]line, lines), hints: make([]atomic.Uint64, words), at: lineWords}
}

// bit returns the place of a thread.
func (r *ready) bit(thread int, bell *Bell) Bit {
	l := thread / lineThreads
	return Bit{
		word: &r.lines[l][thread/wordThreads%lineWords], mask: 1 << (thread % wordThreads),
		hint: &r.hints[l/64], hintMask: 1 << (l % 64),
		bell: bell,
	}
}

// take removes the next ready thread from the set and returns it; -1 if a look
// at all hints found none. It goes round: whoever is ready runs after each other
// thread has run at most twice.
func (r *ready) take() int {
	for r.word == 0 {
		if !r.nextWord() && !r.nextLine() {
			return -1
		}
	}
	b := bits.TrailingZeros64(r.word)
	r.word &= r.word - 1
	return r.base + b
}

// nextWord takes the next word of the line in hand, if there is one.
func (r *ready) nextWord() bool {
	if r.at == lineWords {
		return false
	}
	w := &r.lines[r.line][r.at]
	if w.Load() != 0 { // a load shares the line with who signals, a swap takes it away
		r.word = w.Swap(0)
	}
	r.base = r.line*lineThreads + r.at*wordThreads
	r.at++
	return true
}

// nextLine turns to the next line that a hint names, if one does.
func (r *ready) nextLine() bool {
	for range r.hints {
		if r.hint != 0 {
			break
		}
		if r.cursor == len(r.hints) {
			r.cursor = 0
		}
		h := &r.hints[r.cursor]
		if h.Load() != 0 {
			r.hint = h.Swap(0) // before the words, which were set before it
		}
		r.cursor++
	}
	if r.hint == 0 {
		return false
	}
	r.line = (r.cursor-1)*64 + bits.TrailingZeros64(r.hint)
	r.hint &= r.hint - 1
	r.at = 0
	return true
}

// any tells whether a thread may be ready, after take found none.
func (r *ready) any() bool {
	for i := range r.hints {
		if r.hints[i].Load() != 0 {
			return true
		}
	}
	return false
}

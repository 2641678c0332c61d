// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"sync/atomic"
	"time"
)

// asleep is the bit of a bell that says that the port sleeps, or is about to.
const asleep = 1

// A bell is the line by which a port is woken. Only its port sets and clears
// asleep; who rings adds to the count above it, so that the word is another one than the
// port went to sleep on. A ringer that is stopped half way takes no ring from others.
type bell struct {
	word atomic.Uint32
	_    [line - 4]byte
}

// ring wakes the port if it sleeps.
//
// Preconditions: what the port is to find has been stored.
func (b *bell) ring() {
	if b.word.Load()&asleep != 0 {
		b.word.Add(2)
		futexWakeAll(&b.word)
	}
}

// doze announces sleep. Its caller looks once more for what it waits for, then calls
// sleep with the result, or rouse.
func (b *bell) doze() uint32 { return b.word.Or(asleep) | asleep }

// sleep returns when the bell has rung since doze, or the limit is over.
func (b *bell) sleep(since uint32, limit time.Duration) {
	futexSleep(&b.word, since, limit)
	b.rouse()
}

func (b *bell) rouse() { b.word.And(^uint32(asleep)) }

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"sync/atomic"
	"time"
)

// asleep is the bit of a bell that says that the port sleeps, or is about to.
const asleep = 1

// A Bell is the line by which a port is woken. Only its port sets and clears
// asleep; who rings adds to the count above it, so that the word is another one than the
// port went to sleep on. A ringer that is stopped half way takes no ring from others.
// docs/endpoints/shm.md has the argument.
type Bell struct {
	word atomic.Uint32
	_    [line - 4]byte
}

// line is the size of a cache line.
const line = 64

// Ring wakes the port if it sleeps.
//
// Preconditions: what the port is to find has been stored.
func (b *Bell) Ring() {
	if b.IsAsleep() {
		b.Alarm()
	}
}

// IsAsleep tells whether the port sleeps, or is about to.
func (b *Bell) IsAsleep() bool { return b.word.Load()&asleep != 0 }

// Alarm is Ring, whatever the bell says: somebody may have died while he rang.
func (b *Bell) Alarm() {
	b.Strike()
	futexWakeAll(&b.word)
}

// Strike is the first half of Alarm, which tells who is about to sleep.
func (b *Bell) Strike() { b.word.Add(2) }

// Rings returns a number that each ring changes, and sleep does not.
func (b *Bell) Rings() uint32 { return b.word.Load() >> 1 }

// Doze announces sleep. Its caller looks once more for what it waits for, then calls
// Sleep with the result, or Rouse.
func (b *Bell) Doze() (since uint32) { return b.word.Or(asleep) | asleep }

// Sleep returns when the bell has rung since Doze, or the limit is over; 0 stands for none.
func (b *Bell) Sleep(since uint32, limit time.Duration) {
	futexSleep(&b.word, since, limit)
	b.Rouse()
}

// Rouse takes Doze back.
func (b *Bell) Rouse() { b.word.And(^uint32(asleep)) }

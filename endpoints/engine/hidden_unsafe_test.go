// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"reflect"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/locks"
)

// In model LockQ a thread that has the lock, and finds its earlier op hidden behind a
// thread that stands still within Put, does not overtake it.
func TestLockQHiddenOpIsNotOvertaken(t *testing.T) {
	f := fabric(t, Options{Ports: 2, Model: LockQ})
	p := f.Port(0)
	owner := p.enter()
	// Another thread swaps its entry in and stands still: Put's first half, on the
	// first words of Queue and Entry. Its op is a receive.
	slow := p.ops.get()
	slow.kind, slow.buf = opReceive, make([]byte, 8)
	slow.node().Envelope = Envelope{Tag: 9}
	slow.word.Store(wordOf(slow.turn, pending))
	entry := p.ops.seat(slow.index).entry
	entry.Item = slow
	tail := (*atomic.Pointer[locks.Entry[op]])(unsafe.Pointer(&p.posted))
	before := tail.Swap(entry)
	first, err := p.Isend(number(0), Envelope{Peer: 1}) // left, and hidden
	require.NoError(t, err)
	p.lock.Release() // not leave, which waits for the hidden ones

	second, err := p.Isend(number(1), Envelope{Peer: 1}) // has the lock
	require.NoError(t, err)
	assert.False(t, second.done(), "behind the hidden op")
	(*atomic.Pointer[locks.Entry[op]])(unsafe.Pointer(before)).Store(entry) // it goes on
	require.NoError(t, WaitAll([]Request{first, second}, nil))
	p.ops.put(owner)
	expect(t, f.Port(1), Envelope{Peer: 0}, 0, 1)
}

// sleeps tells whether the thread of a seat is in Sleeper.Wait, or a signal's way from it.
func sleeps(s *seat) bool {
	asleep := reflect.ValueOf(&s.sleeper).Elem().FieldByName("bell").FieldByName("asleep")
	return (*atomic.Uint32)(unsafe.Pointer(asleep.UnsafeAddr())).Load() != 0
}

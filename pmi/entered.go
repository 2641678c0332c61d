// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import "sync"

// Entered holds barriers that were entered at an Exchanger in another process and not left yet, each one once at a time.
// Its zero value is empty. It may be used from any goroutine.
type Entered struct {
	mu     sync.Mutex
	leaves map[string]Leave // by barrier; nil before the first
	closed bool
}

// Add keeps leave until the barrier is left. After Close it fails leave at once and returns false.
func (e *Entered) Add(barrier string, leave Leave) bool {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		leave(nil, ErrClosed)
		return false
	}
	defer e.mu.Unlock()
	if e.leaves == nil {
		e.leaves = map[string]Leave{}
	}
	e.leaves[barrier] = leave
	return true
}

// Left takes the arrival that ends a barrier, as Append wrote it, and returns what lets those go on who wait for it. Nobody
// waits for one that cannot be read.
func (e *Entered) Left(arrival []byte) (resume func()) {
	done, err := ParseArrival(arrival)
	if err != nil {
		return func() {}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	leave := e.leaves[done.Barrier]
	delete(e.leaves, done.Barrier)
	if leave == nil {
		return func() {}
	}
	return func() { leave(done.Puts, nil) }
}

// Close fails all barriers that were not left, and every later one.
func (e *Entered) Close() {
	e.mu.Lock()
	leaves := e.leaves
	e.leaves, e.closed = nil, true
	e.mu.Unlock()
	for _, leave := range leaves {
		leave(nil, ErrClosed)
	}
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import "sync"

// waits holds those of a session's requests that wait for other ranks.
type waits struct {
	mu    sync.Mutex
	count int
	// next lists, for each barrier that the rank is in, its further entries into the same one: they are of later rounds.
	next map[string][]entrance
}

// add counts one more, or reports that there are too many.
func (w *waits) add() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.count == maxWaits {
		return false
	}
	w.count++
	return true
}

func (w *waits) done() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count--
}

// inBarrier reports whether the rank is in a barrier that it has not left.
func (w *waits) inBarrier() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.next) > 0
}

// An entrance is a request to enter a barrier.
type entrance struct {
	request Message
	puts    []Entry
}

// enter lets the rank into a barrier, after it has left the same one, and reports false if it waits for too many.
func (s *session) enter(barrier string, e entrance) bool {
	w := &s.waits
	if !w.add() {
		return false
	}
	w.mu.Lock()
	later, isIn := w.next[barrier]
	if isIn {
		w.next[barrier] = append(later, e)
		w.mu.Unlock()
		return true
	}
	if w.next == nil {
		w.next = map[string][]entrance{}
	}
	w.next[barrier] = nil
	w.mu.Unlock()
	s.arrive(barrier, e)
	return true
}

func (s *session) arrive(barrier string, e entrance) {
	s.server.gather.Enter(Arrival{barrier, 1, e.puts}, func(_ []Entry, err error) {
		next := s.leave(barrier)
		s.answer(e.request, barrierReply(e.request, err))
		if next != nil {
			s.arrive(barrier, *next)
		}
	})
}

// leave returns the rank's next entrance into the barrier that it leaves.
func (s *session) leave(barrier string) *entrance {
	w := &s.waits
	w.done()
	w.mu.Lock()
	defer w.mu.Unlock()
	later := w.next[barrier]
	if len(later) == 0 {
		delete(w.next, barrier)
		return nil
	}
	w.next[barrier] = later[1:]
	return &later[0]
}

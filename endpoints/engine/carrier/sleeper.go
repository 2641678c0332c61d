// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package carrier

import "time"

// A Sleeper is how a port sleeps whose node has a Watch: the Watch moves things on while the port sleeps, or is about to.
// It is for one thread at a time, but for its bell.
type Sleeper struct {
	bell    *Bell
	watch   *Watch
	watched bool
}

// NewSleeper returns the Sleeper of a port with this bell.
func NewSleeper(bell *Bell, watch *Watch) Sleeper { return Sleeper{bell: bell, watch: watch} }

// Bell returns the bell by which the port is woken.
func (s *Sleeper) Bell() *Bell { return s.bell }

// Doze announces that the port is about to sleep. Its caller looks once more for
// whatever it waits for, be it by Poll or elsewhere, then calls Sleep or Rouse.
func (s *Sleeper) Doze() (since uint32) {
	since = s.bell.Doze()
	if !s.watched {
		s.watched = true
		s.watch.Want()
	}
	return since
}

// Rouse takes Doze back.
func (s *Sleeper) Rouse() {
	s.bell.Rouse()
	if s.watched {
		s.watched = false
		s.watch.Unwant()
	}
}

// Sleep sleeps until there is something for Poll, or somebody rang the bell, since
// Doze; or for the limit, if it is not 0. It may return early.
func (s *Sleeper) Sleep(since uint32, limit time.Duration) {
	s.bell.Sleep(since, limit)
	s.Rouse()
}

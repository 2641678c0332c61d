// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/procs"
)

// A round is a signal that the launcher sends to all ranks. The process that the ranks share gets it once.
type round struct {
	since time.Time
	seen  map[int]bool // ranks
}

// signalled passes on a signal that a member has got: to the private rank's process, or to the process of all ranks.
func (s *set) signalled(rank int, sig unix.Signal) {
	if s.process.Private {
		if pid := s.pids[rank]; pid != 0 {
			kill(pid, sig)
		} else if _, ended := s.ends[rank]; !ended {
			s.early[rank] = append(s.early[rank], sig)
		}
		return
	}
	last := s.recent[sig]
	if last.seen == nil || last.seen[rank] || time.Since(last.since) > procs.Broadcast {
		last = round{since: time.Now(), seen: map[int]bool{}}
		kill(s.process.PID, sig)
	}
	last.seen[rank] = true
	s.recent[sig] = last
}

func (s *set) rankStarted(rank, pid int) {
	s.pids[rank] = pid
	for _, sig := range s.early[rank] {
		kill(pid, sig)
	}
	delete(s.early, rank)
}

// kill signals a process group, or the process that is about to become its leader. It does nothing if they have ended.
func kill(pid int, sig unix.Signal) {
	if unix.Kill(-pid, sig) != nil {
		_ = unix.Kill(pid, sig)
	}
}

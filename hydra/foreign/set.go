// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/control"
	"github.com/tpsl/tpsl/hydra/procs"
	"github.com/tpsl/tpsl/hydra/proxy"
	"github.com/tpsl/tpsl/hydra/proxy/descriptors"
)

const (
	// settle is how long the set waits for the last lines of an ended process if another process still has their pipe open.
	settle = 2 * time.Second
	// sweepLimit bounds the wait for killed processes.
	sweepLimit = 3 * time.Second
)

// A set is the live state of the ranks that a leader runs. One goroutine, that of follow, owns it; the others send it
// functions to call.
type set struct {
	parts   []*part
	signals <-chan os.Signal // that the leader gets
	events  chan func()
	began   time.Time
	process proxy.SetProcess
	pids    map[int]int           // in private mode the PID of each rank
	early   map[int][]unix.Signal // signals for ranks whose process has not started
	recent  map[unix.Signal]round
	fault   int // rank whose thread crashed, or -1
	lost    int // rank whose donor died, or -1

	collected procs.Makers
	ended     bool // the process was collected
	status    unix.WaitStatus
	ends      map[int]unix.WaitStatus // by rank
	crash     unix.WaitStatus         // in private mode the status of the first rank that a signal ended
	lines     chan struct{}           // closed when the control lines have been read to their end
}

func newSet(parts []*part) *set {
	return &set{
		parts: parts, signals: procs.CatchSignals(procs.AsRank), events: make(chan func()), began: procs.Now(), lines: make(chan struct{}), fault: -1, lost: -1,
		pids: map[int]int{}, early: map[int][]unix.Signal{}, recent: map[unix.Signal]round{},
		collected: procs.Makers{}, ends: map[int]unix.WaitStatus{},
	}
}

func (s *set) connections() (c descriptors.Connections) {
	const streams = 3
	for _, p := range s.parts {
		c.Streams = append(c.Streams, [streams]int(p.fds))
		c.Sessions = append(c.Sessions, p.fds[streams:]...)
	}
	return c
}

// follow serves the set until nothing is left of it, and returns how the first rank ended, as Run does.
func (s *set) follow(process proxy.SetProcess) (unix.WaitStatus, error) {
	s.process = process
	children := make(chan os.Signal, 1)
	signal.Notify(children, unix.SIGCHLD)
	go s.readControl()
	go s.passOwnSignals()
	for _, p := range s.parts[1:] {
		go s.listenTo(p)
	}
	for s.reap(); !s.ended; {
		select {
		case <-children:
			s.reap()
		case event := <-s.events:
			event()
		}
	}
	s.drain()
	if s.crash != 0 {
		s.status = s.crash // what ended the set
	}
	return s.finish()
}

// finish cleans up, and lets the donors end afterwards, because the launcher may kill this process when a donor ends badly.
func (s *set) finish() (unix.WaitStatus, error) {
	bad := s.status != 0
	for _, status := range s.ends {
		bad = bad || status != 0
	}
	if procs.Sweep(s.reap, sweepLimit) && bad {
		procs.RemoveSharedMemory(s.began, s.collected)
	}
	err := s.describe()
	for _, p := range s.parts {
		if _, known := s.ends[p.Rank]; !known {
			s.ends[p.Rank] = s.status
		}
		p.tellStatus(s.ends[p.Rank])
	}
	return s.ends[s.parts[0].Rank], err
}

// drain handles the last events of the process that has ended.
func (s *set) drain() {
	for late := time.After(settle); ; {
		select {
		case event := <-s.events:
			event()
		case <-s.lines:
			return
		case <-late:
			return
		}
	}
}

// reap collects ended children and reports whether any child is left.
func (s *set) reap() bool {
	return procs.Reap(func(pid int, status unix.WaitStatus) {
		s.collected.Ended(pid)
		if pid == s.process.PID {
			s.ended, s.status = true, status
		}
	})
}

// readControl passes on the lines that the set's process writes about itself.
func (s *set) readControl() {
	defer close(s.lines)
	if s.process.Control == nil {
		return
	}
	var ranks []int
	for _, p := range s.parts {
		ranks = append(ranks, p.Rank)
	}
	for e := range control.Events(s.process.Control, ranks) {
		s.events <- func() { s.heard(e) }
	}
}

func (s *set) heard(e control.Event) {
	switch e.Kind {
	case control.Started:
		s.rankStarted(e.Rank, e.PID)
	case control.Exited:
		delete(s.pids, e.Rank)
		s.collected.Ended(e.PID)
		s.rankEnded(e.Rank, e.Status)
	case control.Faulted:
		if s.fault < 0 {
			s.fault = e.Rank
		}
	}
}

// rankEnded lets the donor of a private rank end as the rank did. If the rank has crashed, the whole set ends first. Otherwise the
// launcher would kill this process before it could clean up.
func (s *set) rankEnded(rank int, status unix.WaitStatus) {
	if s.crash != 0 && status.Signaled() && status.Signal() == unix.SIGKILL {
		return // it was killed with its set, and gets the status of the rank that crashed
	}
	s.ends[rank] = status
	if status.Signaled() {
		if s.crash == 0 {
			s.crash = status
		}
		s.kill()
		return
	}
	for _, p := range s.parts {
		if p.Rank == rank {
			p.tellStatus(status)
		}
	}
}

func (s *set) kill() { _ = unix.Kill(-s.process.PID, unix.SIGKILL) } // it may have ended meanwhile

// listenTo reads the signals that a donor passes on. If the donor dies, its rank counts as dead.
func (s *set) listenTo(p *part) {
	message := make([]byte, maxMessage)
	for {
		n, err := p.conn.Read(message)
		if err != nil || n == 0 {
			s.events <- func() { s.donorGone(p.Rank) }
			return
		}
		for _, number := range message[:n] {
			s.events <- func() { s.signalled(p.Rank, unix.Signal(number)) }
		}
	}
}

func (s *set) donorGone(rank int) {
	if _, known := s.ends[rank]; !known && s.lost < 0 {
		s.lost = rank
		s.kill()
	}
}

func (s *set) passOwnSignals() {
	for sig := range s.signals {
		s.events <- func() { s.signalled(s.parts[0].Rank, sig.(unix.Signal)) }
	}
}

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
	// settle is how long an ended process's last lines may take where something that outlives it has their pipe open.
	settle = 2 * time.Second
	// sweepLimit bounds the wait for killed processes.
	sweepLimit = 3 * time.Second
)

// A set is the live state of the ranks that a leader runs. One goroutine, that of follow, owns it; the others send it
// functions to call.
type set struct {
	parts   []*part
	signals <-chan os.Signal // to the leader
	events  chan func()
	began   time.Time
	process proxy.SetProcess
	pids    map[int]int           // of ranks that are processes of their own
	early   map[int][]unix.Signal // for ranks that are yet to have one
	recent  map[unix.Signal]round
	fault   int // rank whose thread crashed, or -1
	lost    int // rank whose donor died, or -1

	collected procs.Makers
	ended     bool // the process was collected
	status    unix.WaitStatus
	ends      map[int]unix.WaitStatus // by rank
	crash     unix.WaitStatus         // of the first rank that is a process of its own and ended by a signal
	lines     chan struct{}           // closed at the end of what the process says about itself
}

func newSet(parts []*part) *set {
	return &set{
		parts: parts, signals: procs.CatchSignals(procs.AsRank), events: make(chan func()), began: procs.Now(), lines: make(chan struct{}), fault: -1, lost: -1,
		pids: map[int]int{}, early: map[int][]unix.Signal{}, recent: map[unix.Signal]round{},
		collected: procs.Makers{}, ends: map[int]unix.WaitStatus{},
	}
}

func (s *set) connections() (c descriptors.Connections) {
	for _, p := range s.parts {
		c.Sessions = append(c.Sessions, p.fds[0])
		c.Streams = append(c.Streams, [3]int(p.fds[1:]))
	}
	return c
}

// follow serves the set until nothing is left of it, and returns how the first rank ended.
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

// finish cleans up and then lets the donors end: at the first that ends badly the launcher may kill this process.
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
		if err == nil {
			p.tellStatus(s.ends[p.Rank])
		}
	}
	return s.ends[s.parts[0].Rank], err
}

// drain reads what the ended process still said of its ranks.
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

// readControl hears what the set's process tells about itself.
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

// rankEnded lets the donor of a rank that is a process of its own end like it. A crash is the end of the set: the launcher
// would kill this process before it could clean up.
func (s *set) rankEnded(rank int, status unix.WaitStatus) {
	if s.crash != 0 && status.Signaled() && status.Signal() == unix.SIGKILL {
		return // killed with its set: it counts as the one that crashed does
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

// listenTo serves a donor: signals, and its death, which is that of its rank.
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

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package descriptors

import (
	"fmt"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// A Set is the two ends of the descriptors of a process.
type Set struct {
	Process  []int      // what the process inherits, by number from 0
	Inputs   []*os.File // of the ranks that read mpiexec's stdin
	Outputs  []Output   // of the process, or of each rank
	Sessions []*os.File // by slot; nil if the process inherits none
	Control  *os.File   // nil if it has none
}

// An Output is what a process, or one rank of it, writes.
type Output struct{ Stdout, Stderr *os.File }

// Connections are descriptors that another launcher has made for the ranks of a set, by slot.
type Connections struct {
	Sessions []int    // PMI
	Streams  [][3]int // stdin, stdout, stderr
}

// Open makes the descriptors.
func (l Layout) Open() (*Set, error) {
	return l.fill(func(s *Set, u use) (int, error) {
		if u.role == board {
			return copyOf(int(l.Board.Fd()))
		}
		return s.open(u)
	})
}

// Adopt gives the process copies of descriptors that another launcher has made. Their other ends are not ours, but for the
// control pipe, which is new.
func (l Layout) Adopt(c Connections) (*Set, error) {
	return l.fill(func(s *Set, u use) (int, error) {
		switch u.role {
		case control:
			return s.open(u)
		case board:
			return copyOf(int(l.Board.Fd()))
		case session:
			return copyOf(c.Sessions[u.slot])
		case stdout:
			return copyOf(c.Streams[u.slot][1])
		case stderr:
			return copyOf(c.Streams[u.slot][2])
		}
		return copyOf(c.Streams[u.slot][0])
	})
}

// fill provides a descriptor for each use. After an error none is left open.
func (l Layout) fill(provide func(*Set, use) (int, error)) (*Set, error) {
	s := new(Set)
	for _, u := range l.uses() {
		fd, err := provide(s, u)
		if err != nil {
			s.CloseProcess()
			s.Close()
			return nil, err
		}
		s.Process = append(s.Process, fd)
	}
	return s, nil
}

// CloseProcess closes what the process has inherited, or will not.
func (s *Set) CloseProcess() {
	for _, fd := range s.Process {
		_ = unix.Close(fd)
	}
}

// Close closes the other ends.
func (s *Set) Close() {
	files := slices.Concat(s.Inputs, s.Sessions, []*os.File{s.Control})
	for _, o := range s.Outputs {
		files = append(files, o.Stdout, o.Stderr)
	}
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// open makes a descriptor for the process, and keeps the other end.
func (s *Set) open(u use) (process int, err error) {
	var ours *os.File
	switch u.role {
	case emptyInput:
		return openNull()
	case input:
		process, ours, err = pipe(true)
		s.Inputs = append(s.Inputs, ours)
	case stdout:
		process, ours, err = pipe(false)
		s.Outputs = append(s.Outputs, Output{Stdout: ours})
	case stderr:
		process, ours, err = pipe(false)
		s.Outputs[u.slot].Stderr = ours
	case session:
		process, ours, err = socketPair()
		s.Sessions = append(s.Sessions, ours)
	case control:
		process, s.Control, err = pipe(false)
	}
	return process, err
}

// pipe returns the end of a pipe for the process and ours.
func pipe(processReads bool) (process int, ours *os.File, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return 0, nil, fmt.Errorf("make pipe: %w", err)
	}
	if processReads {
		return fds[0], Pollable(fds[1]), nil
	}
	return fds[1], Pollable(fds[0]), nil
}

func socketPair() (process int, ours *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, nil, fmt.Errorf("make PMI socket: %w", err)
	}
	return fds[1], Pollable(fds[0]), nil
}

func openNull() (int, error) {
	fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("open /dev/null: %w", err)
	}
	return fd, nil
}

// copyOf duplicates a descriptor of ours.
func copyOf(fd int) (int, error) {
	const firstFree = 3 // behind the standard streams
	twin, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, firstFree)
	if err != nil {
		return 0, fmt.Errorf("copy descriptor %d: %w", fd, err)
	}
	return twin, nil
}

// Pollable hands a descriptor to the runtime's poller, so that closing the file ends a read.
func Pollable(fd int) *os.File {
	_ = unix.SetNonblock(fd, true) // cannot fail on a descriptor just made
	return os.NewFile(uintptr(fd), "fd "+strconv.Itoa(fd))
}

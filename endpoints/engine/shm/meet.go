// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Socketpair returns two connected sockets, one for Meet and one for the process
// that is to Join. Neither is inherited unless it is asked for.
func Socketpair() (forMeet, forJoin *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make a socket to meet by: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "meeting socket"), os.NewFile(uintptr(fds[1]), "socket to join by"), nil
}

// Meet brings the processes at the other ends of the sockets together, each of
// which calls Join. It returns when each has been told of all others, or all have been told
// why not; nothing of it stays. Without a deadline in ctx it gives them 30 seconds.
// The files stay the caller's, who may be a process of its own or one that joins.
func Meet(ctx context.Context, sockets []*os.File) error {
	guests := make([]guest, 0, len(sockets))
	defer func() {
		for _, g := range guests {
			g.close()
		}
	}()
	for i, f := range sockets {
		s, err := openSocket(f)
		if err != nil {
			err = fmt.Errorf("meet process %d: %w", i, err)
			refuse(guests, err)
			return err
		}
		guests = append(guests, guest{socket: s})
		defer limit(ctx, s)()
	}
	err := gather(guests)
	if err == nil {
		err = introduce(guests)
	}
	if err != nil {
		refuse(guests, err)
	}
	return err
}

// A guest is a process that is to join.
type guest struct {
	socket meetingSocket
	hello  note
	attached
}

func (g guest) close() {
	g.socket.Close()
	g.attached.close()
}

// gather takes all processes' hellos.
func gather(guests []guest) error {
	for i, g := range guests {
		if err := askForSender(g.socket); err != nil {
			return err
		}
		if err := g.socket.send(note{Kind: noteWelcome, Process: uint32(i), Processes: uint32(len(guests))}, ""); err != nil {
			return absent(i, err)
		}
	}
	for i := range guests {
		g := &guests[i]
		var err error
		if g.hello, g.attached, err = g.socket.receive(noteHello); err != nil {
			return absent(i, err)
		}
		if g.sender == nil || int(g.sender.Uid) != os.Geteuid() {
			return fmt.Errorf("process %d: not of user %d", i, os.Geteuid())
		}
		if err := isPidfd(g.files[1], g.sender.Pid); err != nil {
			return fmt.Errorf("process %d: %w", i, err)
		}
		g.hello.Pid = uint32(g.sender.Pid)
	}
	return checkRanks(guests)
}

func absent(process int, err error) error {
	switch {
	case hasLeft(err):
		return fmt.Errorf("process %d left before it joined", process)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("process %d did not join in time", process)
	}
	return fmt.Errorf("process %d: %w", process, err)
}

// hasLeft tells whether an error says that nobody is at the socket's other end any more.
func hasLeft(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET)
}

// askForSender makes the kernel say who sends each note. The peer of a socketpair
// is whoever made it (SO_PEERCRED), which need not be who sends.
func askForSender(s meetingSocket) error {
	raw, err := s.SyscallConn()
	if err != nil {
		return err
	}
	var set error
	err = raw.Control(func(fd uintptr) { set = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PASSCRED, 1) })
	return errors.Join(err, set)
}

// checkRanks makes sure that the processes agree on the total, and that no two have one rank.
// Ranks of other hosts are missing here.
func checkRanks(guests []guest) error {
	total := guests[0].hello.Total
	owner := make(map[uint32]int)
	for i, g := range guests {
		h := g.hello
		if h.Total != total {
			return fmt.Errorf("process %d says that there are %d ranks, process 0 says %d", i, h.Total, total)
		}
		if h.Ports < 1 || h.Ports > MaxPorts || h.First > total || h.Ports > total-h.First {
			return fmt.Errorf("process %d has %d ranks from %d on, of %d", i, h.Ports, h.First, total)
		}
		for r := h.First; r < h.First+h.Ports; r++ {
			if other, taken := owner[r]; taken {
				return fmt.Errorf("processes %d and %d both have rank %d", other, i, r)
			}
			owner[r] = i
		}
	}
	return nil
}

// introduce tells each process of all others. One that has ended meanwhile is a peer
// that is gone: the others notice.
func introduce(guests []guest) error {
	var errs []error
	for i, g := range guests {
		if err := g.meet(guests, i); err != nil && !hasLeft(err) {
			errs = append(errs, absent(i, err))
		}
	}
	return errors.Join(errs...)
}

// meet tells a process, number self, of all others.
func (g guest) meet(guests []guest, self int) error {
	for j, other := range guests {
		if j == self {
			continue
		}
		n := other.hello
		n.Kind, n.Process, n.Processes = notePeer, uint32(j), uint32(len(guests))
		if err := g.socket.send(n, "", other.files...); err != nil {
			return err
		}
	}
	return nil
}

// refuse tells those that listen why there is no node.
func refuse(guests []guest, why error) {
	for _, g := range guests {
		_ = g.socket.SetDeadline(time.Now().Add(afterwards))
		_ = g.socket.send(note{Kind: noteRefused}, why.Error())
	}
}

// isPidfd makes sure that the file stands for the process.
func isPidfd(f *os.File, pid int32) error {
	info, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", f.Fd()))
	if err != nil {
		return err
	}
	if !strings.Contains(string(info), fmt.Sprintf("\nPid:\t%d\n", pid)) {
		return fmt.Errorf("its second descriptor is no pidfd of process %d", pid)
	}
	return nil
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

// Options say which ranks a process has, and how large its segment is. Zero stands
// for the default.
type Options struct {
	First  int // its first rank
	Ports  int // how many ranks it has
	Total  int // how many there are, those that others carry to included
	Cells  int // per track, at most: 1,024, or fewer in a node so large that a process would map more than 1 TiB of tracks
	Least  int // cells per track at first: 64, or Cells if that is less. A track whose sender finds it full becomes longer, and shorter when that is over
	Packet int // bytes of a packet, above which messages wait for their receiver: 16 KiB
	// Streams has large messages sent packet by packet even where the kernel would
	// let the receiver read the sender's memory.
	Streams bool
	// Lasting has Close leave the memory mapped until the process ends. So Close may be called while threads are in calls.
	Lasting bool
}

// mostMapped is how many bytes of tracks a process maps by default, if all processes have as many ports.
const mostMapped = 1 << 40

func (o Options) layout(processes int) layout {
	l := layout{ports: o.Ports, processes: processes, least: o.Least, cells: o.Cells, packet: o.Packet}
	if l.cells == 0 {
		l.cells = 1024
		for l.cells > 64 && processes*processes*l.ports*l.cells*ring.CellSize > mostMapped {
			l.cells /= 2
		}
	}
	if l.least == 0 {
		l.least = min(64, l.cells)
	}
	if l.packet == 0 {
		l.packet = 16 << 10
	}
	return l
}

// Join makes this process part of a node: it meets the others by the socket, whose
// other end was given to Meet. Without a deadline in ctx it gives them 30 seconds. The
// file stays the caller's, and is not needed any more when Join returns.
func Join(ctx context.Context, socket *os.File, o Options) (*Node, error) {
	s, err := openSocket(socket)
	if err != nil {
		return nil, fmt.Errorf("join a node: %w", err)
	}
	defer s.Close()
	defer limit(ctx, s)()
	n, err := join(s, o)
	if err != nil {
		_ = s.send(note{Kind: noteRefused}, err.Error()) // so that the others need not wait
	}
	switch {
	case hasLeft(err):
		err = errors.New("whoever started the processes has closed the socket")
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = errors.New("the other processes did not come in time")
	}
	if err != nil {
		return nil, fmt.Errorf("join a node: %w", err)
	}
	return n, nil
}

func join(s meetingSocket, o Options) (*Node, error) {
	if err := isOwnUsers(s); err != nil {
		return nil, err
	}
	welcome, _, err := s.receive(noteWelcome)
	if err != nil {
		return nil, err
	}
	if welcome.Processes > MaxProcesses || welcome.Process >= welcome.Processes || uint(o.Total) > MaxProcesses*MaxPorts {
		return nil, fmt.Errorf("process %d of %d, with %d ranks in all: the limit is %d processes of %d ranks",
			welcome.Process, welcome.Processes, o.Total, MaxProcesses, MaxPorts)
	}
	n := &Node{
		options: o, self: int(welcome.Process),
		peers:  make([]peer, welcome.Processes),
		places: make([]place, o.Total),
	}
	for i := range n.places {
		n.places[i].process = nowhere
	}
	if err := n.sayHello(s); err != nil {
		return nil, errors.Join(err, n.unmap())
	}
	for range len(n.peers) - 1 {
		if err := n.meetPeer(s); err != nil {
			return nil, errors.Join(err, n.unmap())
		}
	}
	return n, n.start()
}

// isOwnUsers makes sure that the socket is of a process of this user.
func isOwnUsers(s meetingSocket) error {
	raw, err := s.SyscallConn()
	if err != nil {
		return err
	}
	var who *unix.Ucred
	var asked error
	err = raw.Control(func(fd uintptr) { who, asked = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err = errors.Join(err, asked); err != nil {
		return err
	}
	if int(who.Uid) != os.Geteuid() {
		return fmt.Errorf("the socket is of user %d", who.Uid)
	}
	return nil
}

// sayHello makes this process's segment and sends it.
func (n *Node) sayHello(s meetingSocket) error {
	own, memory, err := makeSegment(n.options.layout(len(n.peers)))
	if err != nil {
		return err
	}
	defer memory.Close()
	me := &n.peers[n.self]
	me.segment = own
	pidfd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return fmt.Errorf("pidfd_open of this process: %w", err)
	}
	self := os.NewFile(uintptr(pidfd), "pidfd")
	defer self.Close()
	hello := note{
		Kind: noteHello, Process: uint32(n.self),
		First: uint32(n.options.First), Ports: uint32(n.options.Ports), Total: uint32(n.options.Total),
		Probe: own.probeAddress(),
	}
	if err := s.send(hello, "", memory, self); err != nil {
		return err
	}
	return n.settle(n.self, hello)
}

// meetPeer takes one peer's segment.
func (n *Node) meetPeer(s meetingSocket) error {
	m, got, err := s.receive(notePeer)
	if err != nil {
		return err
	}
	defer got.close()
	if int(m.Process) >= len(n.peers) || n.peers[m.Process].segment != nil {
		return fmt.Errorf("process %d of %d, again or too many", m.Process, len(n.peers))
	}
	p := &n.peers[m.Process]
	if p.segment, err = openSegment(got.files[0], int(m.Ports), len(n.peers)); err != nil {
		return fmt.Errorf("process %d: %w", m.Process, err)
	}
	p.pid = int(m.Pid)
	fd, err := unix.FcntlInt(got.files[1].Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return err
	}
	p.pidfd = os.NewFile(uintptr(fd), "pidfd")
	p.direct.Store(!n.options.Streams && readable(p.pid, m.Probe))
	return n.settle(int(m.Process), m)
}

// settle notes where a process's ranks are.
func (n *Node) settle(process int, m note) error {
	if m.Ports > MaxPorts || int(m.First)+int(m.Ports) > len(n.places) {
		return fmt.Errorf("process %d has %d ranks from %d on, of %d", process, m.Ports, m.First, len(n.places))
	}
	p := &n.peers[process]
	p.first = int(m.First)
	p.tracks = make([]atomic.Pointer[ring.Ring], m.Ports)
	for port := range int(m.Ports) {
		n.places[p.first+port] = place{process: int32(process), port: int32(port)}
		p.bells = append(p.bells, p.segment.bell(port))
	}
	return nil
}

// startOf returns when a process started, in clock ticks since boot.
func startOf(pid int) (uint64, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	text := string(stat)
	f := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	const field = 22 - 3 // the first one here is the third: proc_pid_stat(5)
	if len(f) <= field {
		return 0, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(f))
	}
	return strconv.ParseUint(f[field], 10, 64)
}

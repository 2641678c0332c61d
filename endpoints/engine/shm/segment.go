// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

const (
	magic   = 0x6d68736c73707431 // "1tpslshm"
	version = 4

	seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
)

// identity is what the owner of a segment says about it, once, before any other
// process has it.
type identity struct {
	magic, version, size                   uint64
	ports, processes, least, cells, packet uint64
	pid, started                           uint64 // started: field 22 of proc_pid_stat(5)
	probe                                  uint64 // what peers read with process_vm_readv to see whether they may
	_                                      [40]byte
}

// header is the first page of a segment.
type header struct {
	identity               // two lines, never written again
	left     atomic.Uint32 // the owner has closed its node
	changes  atomic.Uint32 // how often a process of the node has ended or left, as far as its owner knows
	_        [56]byte
}

// A segment is a process's memory for the others, as this process has it mapped.
type segment struct {
	layout
	memory  []byte
	packets []byte // those of all its ports
	header  *header
}

// makeSegment makes this process's own. The descriptor is for the peers.
func makeSegment(l layout) (*segment, *os.File, error) {
	if err := l.check(); err != nil {
		return nil, nil, err
	}
	started, err := startOf(os.Getpid())
	if err != nil {
		return nil, nil, err
	}
	fd, err := unix.MemfdCreate("tpsl-engine", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, nil, fmt.Errorf("make a segment: memfd_create: %w", err)
	}
	f := os.NewFile(uintptr(fd), "segment")
	err = unix.Ftruncate(fd, int64(l.size()))
	if err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
	}
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("make a segment of %d bytes: %w", l.size(), err)
	}
	s, err := mapSegment(f, l)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	s.header.identity = identity{
		magic: magic, version: version, size: uint64(l.size()),
		ports: uint64(l.ports), processes: uint64(l.processes), least: uint64(l.least), cells: uint64(l.cells), packet: uint64(l.packet),
		pid: uint64(os.Getpid()), started: started, probe: magic,
	}
	return s, f, nil
}

// openSegment maps the segment of another process, which must be what a peer of
// this user, with so many ports and in a node of so many processes, makes.
func openSegment(f *os.File, ports, processes int) (*segment, error) {
	if err := checkFile(f); err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil, err
	}
	if st.Size < pageSize || st.Size > maxSize {
		return nil, fmt.Errorf("segment of %d bytes", st.Size)
	}
	first, err := unix.Mmap(int(f.Fd()), 0, pageSize, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map a segment's header: %w", err)
	}
	id := headerIn(first).identity // a copy: what is checked is what is used
	if err := unix.Munmap(first); err != nil {
		return nil, err
	}
	l, err := id.layout(ports, processes, st.Size)
	if err != nil {
		return nil, err
	}
	return mapSegment(f, l)
}

// checkFile makes sure that the file is a memfd of this user which nobody can
// shrink: a mapping of it never faults.
func checkFile(f *os.File) error {
	has, err := unix.FcntlInt(f.Fd(), unix.F_GET_SEALS, 0)
	if err != nil || has&seals != seals {
		return errors.New("segment without seals against shrinking and growing")
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return err
	}
	if int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("segment of user %d", st.Uid)
	}
	return nil
}

// layout returns what the header says if it makes sense.
func (id *identity) layout(ports, processes int, size int64) (layout, error) {
	const most = 1 << 30 // of any count, so that no product overflows
	switch {
	case id.magic != magic:
		return layout{}, errors.New("not a segment")
	case id.version != version:
		return layout{}, fmt.Errorf("segment of version %d, not %d: run the same version in all processes", id.version, version)
	case id.ports != uint64(ports) || id.processes != uint64(processes):
		return layout{}, fmt.Errorf("segment for %d ports and %d processes, not %d and %d", id.ports, id.processes, ports, processes)
	case id.least > most || id.cells > most || id.packet > most:
		return layout{}, fmt.Errorf("segment with %d to %d cells and packets of %d bytes", id.least, id.cells, id.packet)
	}
	l := layout{ports: ports, processes: processes, least: int(id.least), cells: int(id.cells), packet: int(id.packet)}
	if err := l.check(); err != nil {
		return layout{}, fmt.Errorf("segment with %w", err)
	}
	if id.size != uint64(size) || int64(l.size()) != size {
		return layout{}, fmt.Errorf("segment of %d bytes, not %d", size, l.size())
	}
	return l, nil
}

func mapSegment(f *os.File, l layout) (*segment, error) {
	memory, err := unix.Mmap(int(f.Fd()), 0, l.size(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map a segment of %d bytes: %w", l.size(), err)
	}
	return &segment{layout: l, memory: memory, packets: memory[l.slab(0):l.slab(l.ports)], header: headerIn(memory)}, nil
}

func (s *segment) unmap() error { return unix.Munmap(s.memory) }

// track returns a handle on the ring from a process to a port of the segment's owner. It touches the ring's memory.
func (s *segment) track(port, process int) *ring.Ring {
	at := s.layout.track(port, process)
	header, at := s.memory[at:at+ring.HeaderSize], s.cellsOf(port, process)
	cells := s.memory[at : at+s.cells*ring.CellSize]
	r, err := ring.At(header, cells, s.least, func(from, to int) { giveBack(cells[from*ring.CellSize : to*ring.CellSize]) })
	if err != nil {
		panic(err) // the layout has been checked
	}
	return r
}

// giveBack makes whole pages zeros, and gives their memory back to the kernel where it takes that; it does not from a process that has locked its memory.
func giveBack(pages []byte) {
	if unix.Madvise(pages, unix.MADV_REMOVE) != nil {
		clear(pages)
	}
}

// opens returns the word that counts how often a track to a port was opened.
func (s *segment) opens(port int) *atomic.Uint64 { return wordIn(s.memory[s.layout.opens(port):]) }

// open returns the word that is not 0 once the track from a process to a port is open.
func (s *segment) open(port, process int) *atomic.Uint64 {
	return wordIn(s.memory[s.layout.open(port, process):])
}

// bell returns a port's doorbell.
func (s *segment) bell(port int) *carrier.Bell { return carrier.BellIn(s.memory[s.layout.bell(port):]) }

// returned returns the word in which peers set the bits of a port's packets that
// they have done with.
func (s *segment) returned(port int) *atomic.Uint64 {
	return wordIn(s.memory[s.layout.returned(port):])
}

// packet returns the memory of a packet, or nil if there is none of that number.
func (s *segment) packetAt(port, number int) []byte {
	if uint(port) >= uint(s.ports) || uint(number) >= packetsPer {
		return nil
	}
	at := (port*packetsPer + number) * s.layout.packet
	return s.packets[at : at+s.layout.packet : at+s.layout.packet]
}

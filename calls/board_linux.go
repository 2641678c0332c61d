// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package calls

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// The layout of front/board.h.
const (
	boardVersion   = 2
	headerBytes    = 64
	notesPerRank   = 8
	commsPerRank   = 63
	noteBytes      = 64
	commBytes      = 64
	rankBytes      = headerBytes + notesPerRank*noteBytes + commsPerRank*commBytes
	abiMPICH       = 1
	abiOpenMPI     = 2
	abiStandard    = 3
	mostMembers    = 1 << 20 // of a communicator: more are no ranks of a job (plan.MaxRanks)
	attempts       = 100     // to read a note that changes all the time
	watchingPeriod = 250 * time.Millisecond
)

// A Board is the memory in which the ranks of a host note their calls. Its methods may be called from any goroutine.
type Board struct {
	file *os.File
	stop chan struct{}

	ranks  []LocalRank
	counts bool // ranks count their calls as well
	places Places

	mu    sync.Mutex
	bytes []byte     // nil after Close
	seen  []seenRank // by local rank
}

// A seenRank is what was seen of a rank the last time.
type seenRank struct {
	notes [notesPerRank]uint64 // sequence numbers
	since [notesPerRank]time.Time
	quiet time.Time // since when none has changed
}

// A LocalRank is a rank of a host.
type LocalRank struct {
	Rank  int // in its world
	Space int // number of its address space: that of others who share it
}

// NewBoard makes a board for the ranks of a host, in the order of their local ranks, and watches it until Close. counts says whether the
// ranks count their calls.
func NewBoard(ranks []LocalRank, counts bool) (*Board, error) {
	fd, err := unix.MemfdCreate("tpsl-calls", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make board of calls: %w", err)
	}
	b := &Board{file: os.NewFile(uintptr(fd), "board"), seen: make([]seenRank, len(ranks)), stop: make(chan struct{}), ranks: ranks, counts: counts}
	size := headerBytes + len(ranks)*rankBytes
	if counts {
		size += len(ranks) * countsBytes
	}
	if err = unix.Ftruncate(fd, int64(size)); err == nil {
		b.bytes, err = unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	if err != nil {
		b.file.Close()
		return nil, fmt.Errorf("make board of calls: %w", err)
	}
	binary.NativeEndian.PutUint32(b.bytes, boardVersion)
	binary.NativeEndian.PutUint32(b.bytes[4:], uint32(len(ranks)))
	if counts {
		binary.NativeEndian.PutUint32(b.bytes[8:], 1)
	}
	for i, rank := range ranks {
		binary.NativeEndian.PutUint32(b.rank(i), uint32(rank.Rank))
	}
	b.read()
	go b.watch()
	return b, nil
}

// File is what the processes of the ranks inherit.
func (b *Board) File() *os.File { return b.file }

// Close ends the watch. Ranks keep the memory until they end.
func (b *Board) Close() {
	if b == nil {
		return
	}
	close(b.stop)
	b.file.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	_ = unix.Munmap(b.bytes)
	b.bytes = nil
}

func (b *Board) watch() {
	ticker := time.NewTicker(watchingPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			b.read()
		case <-b.stop:
			return
		}
	}
}

func (b *Board) rank(local int) []byte {
	at := headerBytes + local*rankBytes
	return b.bytes[at : at+rankBytes : at+rankBytes]
}

func noteOf(rank []byte, i int) []byte {
	at := headerBytes + i*noteBytes
	return rank[at : at+noteBytes : at+noteBytes]
}

// Read returns what the ranks of the host do, by their local ranks; nothing after Close. It takes a moment if calls last, to see whether they
// are settled.
func (b *Board) Read() []Rank {
	ranks := b.read()
	b.settle(ranks)
	b.locate(ranks)
	return ranks
}

// read notes which sequence numbers have changed, and returns what the ranks do. No call counts as settled.
func (b *Board) read() (all []Rank) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bytes == nil {
		return nil
	}
	now := time.Now()
	for local := range b.seen {
		b.look(local, now)
		all = append(all, b.readRank(local, now))
	}
	return all
}

// look notes which sequence numbers of a rank have changed. Preconditions: b.mu is held.
func (b *Board) look(local int, now time.Time) {
	seen := &b.seen[local]
	for i := range seen.notes {
		if sequence := loadWord(noteOf(b.rank(local), i)); sequence != seen.notes[i] || seen.since[i].IsZero() {
			seen.notes[i], seen.since[i], seen.quiet = sequence, now, now
		}
	}
}

// readRank returns what a rank does. Preconditions: b.mu is held.
func (b *Board) readRank(local int, now time.Time) Rank {
	rank := b.rank(local)
	abi := int(int32(binary.NativeEndian.Uint32(rank[4:])))
	seen := b.seen[local]
	r := Rank{Rank: int(int32(binary.NativeEndian.Uint32(rank))), Quiet: now.Sub(seen.quiet), Multiple: number(rank[8:]) != 0}
	handles := map[uint64]Communicator{}
	for i := range commsPerRank {
		at := headerBytes + notesPerRank*noteBytes + i*commBytes
		c := rank[at : at+commBytes : at+commBytes]
		size, member := number(c[16:]), number(c[20:])
		if handle := loadWord(c); handle != 0 && member >= 0 && member < size && size <= mostMembers {
			name, _, _ := bytes.Cut(c[24:], []byte{0})
			handles[handle] = Communicator{ID: binary.NativeEndian.Uint64(c[8:]), Size: size, Rank: member, Name: string(bytes.ToValidUTF8(name, []byte("?")))}
			r.Communicators = append(r.Communicators, handles[handle])
		}
	}
	for i := range notesPerRank {
		n, sequence := readNote(noteOf(rank, i))
		r.Known = r.Known || sequence > 0
		if sequence%2 == 0 {
			continue
		}
		handle := binary.NativeEndian.Uint64(n[16:])
		if abi == abiMPICH {
			handle = uint64(uint32(handle))
		}
		call := Call{
			Function: number(n[40:]), Communicator: handles[handle], Thread: number(n[44:]),
			Peer: meaning(number(n[24:]), peers[abi]), Tag: meaning(number(n[28:]), tags[abi]),
			From: meaning(number(n[32:]), peers[abi]), FromTag: meaning(number(n[36:]), tags[abi]),
			Return: word(n[48:]),
		}
		if sequence == seen.notes[i] {
			call.Age = now.Sub(seen.since[i])
		}
		r.Calls = append(r.Calls, call)
	}
	return r
}

func number(at []byte) int { return int(int32(binary.NativeEndian.Uint32(at))) }

// What the special values of each ABI mean.
var (
	peers = map[int]map[int]int{
		abiMPICH:    {-1: NoProcess, -2: AnySource, -3: Root},
		abiOpenMPI:  {-1: AnySource, -2: NoProcess, -4: Root},
		abiStandard: {-1: AnySource, -3: NoProcess, -4: Root},
	}
	tags = map[int]map[int]int{abiStandard: {-2: AnyTag}}
)

func meaning(value int, special map[int]int) int {
	if known, found := special[value]; found {
		return known
	}
	return value
}

// readNote returns a note as it was at one time, and its sequence number.
func readNote(note []byte) (fields []byte, sequence uint64) {
	for range attempts {
		sequence = loadWord(note)
		fields = slices.Clone(note)
		if loadWord(note) == sequence {
			return fields, sequence
		}
	}
	return fields, sequence &^ 1 // it changes all the time: the thread waits for nothing
}

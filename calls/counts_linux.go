// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package calls

import (
	"bytes"
	"encoding/binary"
	"math/big"
	"time"
)

// The layout of struct tpsl_counts in front/board.h.
const (
	countsRows    = 1024
	countsPeers   = 1024
	countsGroups  = 64
	countsObjects = 32
	countsClasses = 64
	amountBytes   = 16
	rowBytes      = 80
	peerBytes     = 104
	groupBytes    = 72
	objectBytes   = 256
	sizesAt       = 128
	groupsAt      = sizesAt + int(ways)*countsClasses*amountBytes
	objectsAt     = groupsAt + countsGroups*groupBytes
	rowsAt        = objectsAt + countsObjects*objectBytes
	peersAt       = rowsAt + countsRows*rowBytes
	countsBytes   = peersAt + countsPeers*peerBytes
)

// A Way is how data move.
type Way int

// The ways.
const (
	Messages Way = iota
	OneSided
	Collective
	ways
)

// An Amount is of messages or operations, with the bytes of them all.
type Amount struct{ Count, Bytes int }

// Counts are what a rank has counted of its calls. Times are by CLOCK_MONOTONIC of the host.
type Counts struct {
	Rank      int           // in its world
	Library   string        // "MPICH", "Open MPI", "standard ABI", or "" if that is not known
	Began     time.Duration // first call
	Last      time.Duration // end of the last MPI_Finalize, or a late time at which the rank was still there
	Finalized bool          // Last is the former
	Inside    time.Duration // that its threads were in MPI, in all
	Rows      []Row
	Peers     []Peer
	Groups    []Group
	Objects   []string // paths
	Sizes     []Size
}

// A Row is the calls of a function from one place on one communicator.
type Row struct {
	Function                string // "" for what did not fit into the table
	Group, Object           int    // indices, or one of the values below
	Place                   uint64 // where the calls return to, in the object
	Calls, Bytes            int
	Time, Shortest, Longest time.Duration
	Entered                 time.Duration // mean of when the calls began, since the rank's first call
}

// Values of indices in a [Row].
const (
	NotInTable = -1
	NoGroup    = -2
)

// A Peer is a rank to which another one has brought data, or from which it has taken some.
type Peer struct {
	Rank     int // in the world; NotInTable: several, or those of another world
	To, From [ways]Amount
}

// A Group is the members of a communicator.
type Group struct {
	ID         uint64 // the same at all members; 0: not known
	Size, Rank int    // Rank is -1 for an intercommunicator
	ToAll      Amount // what collective operations brought to all other members, each
	Name       string
}

// A Size is a class of sizes: from 2^(Class-1) bytes on; class 0 is of 0 bytes.
type Size struct {
	Way   Way
	Class int
	Amount
}

// Counts returns what the ranks of the host have counted, those that have counted anything, by their local ranks.
func (b *Board) Counts() (all []Counts) {
	if b == nil || !b.counts {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for local := range b.ranks {
		if b.bytes == nil {
			return nil
		}
		at := headerBytes + len(b.ranks)*rankBytes + local*countsBytes
		if counts, counted := readCounts(b.bytes[at : at+countsBytes : at+countsBytes]); counted {
			counts.Rank = number(b.rank(local))
			counts.Library = libraries[number(b.rank(local)[4:])]
			all = append(all, counts)
		}
	}
	return all
}

var libraries = map[int]string{abiMPICH: "MPICH", abiOpenMPI: "Open MPI", abiStandard: "standard ABI"}

func word(at []byte) uint64 { return binary.NativeEndian.Uint64(at) }

// A clock turns a rank's ticks into times.
type clock struct {
	ticks, time uint64  // a moment by both clocks
	perTick     float64 // ns
}

func clockOf(c []byte) clock {
	own := clock{ticks: word(c[24:]), time: word(c[32:]), perTick: 1}
	ticks, spent := word(c[40:])-own.ticks, word(c[48:])-own.time
	if ticks > 0 && ticks < 1<<63 && spent > 0 && spent < 1<<63 {
		own.perTick = float64(spent) / float64(ticks)
	}
	return own
}

// mostTime bounds times that make no sense.
const mostTime = 100 * 365 * 24 * time.Hour

func (c clock) span(ticks uint64) time.Duration {
	return time.Duration(min(float64(ticks)*c.perTick, float64(mostTime)))
}

func (c clock) at(ticks uint64) time.Duration {
	moved := time.Duration(max(min(float64(int64(ticks-c.ticks))*c.perTick, float64(mostTime)), -float64(mostTime)))
	return time.Duration(min(c.time, uint64(mostTime))) + moved
}

// readCounts reads what one rank has counted. It believes nothing, as the rank may have been killed, or may have written over it.
func readCounts(c []byte) (counts Counts, counted bool) {
	clock := clockOf(c)
	began, ended := word(c[56:]), word(c[64:])
	if began == 0 {
		return Counts{}, false
	}
	counts = Counts{Began: clock.at(began), Last: clock.at(word(c[40:])), Inside: clock.span(word(c[72:]))}
	if ended != 0 {
		counts.Last, counts.Finalized = clock.at(ended), true
	}
	counts.Last = max(counts.Last, counts.Began)
	counts.Groups = readGroups(c, used(c[8:], countsGroups))
	for i := range used(c[12:], countsObjects) {
		counts.Objects = append(counts.Objects, text(c[objectsAt+i*objectBytes+8:][:objectBytes-8]))
	}
	for i := range used(c[4:], countsRows) {
		row, whole := readRow(c[rowsAt+i*rowBytes:][:rowBytes], clock, len(counts.Groups), len(counts.Objects))
		if i == 0 {
			row = Row{Group: NotInTable, Object: NotInTable, Calls: row.Calls, Bytes: row.Bytes, Time: row.Time, Longest: row.Longest}
		}
		if whole {
			counts.Rows = append(counts.Rows, row)
		}
	}
	for i := range used(c[16:], countsPeers) {
		at := c[peersAt+i*peerBytes:][:peerBytes]
		peer := Peer{Rank: number(at)}
		for way := range ways {
			peer.To[way], peer.From[way] = amount(at[8+int(way)*amountBytes:]), amount(at[8+int(ways+way)*amountBytes:])
		}
		if i == 0 {
			peer.Rank = NotInTable
		}
		if peer.To != [ways]Amount{} || peer.From != [ways]Amount{} {
			counts.Peers = append(counts.Peers, peer)
		}
	}
	counts.Sizes = readSizes(c)
	return counts, true
}

// used returns how many entries of a table there are, with that of all others, which is the first.
func used(at []byte, most int) int { return min(max(number(at), 0), most-1) + 1 }

func text(at []byte) string {
	whole, _, _ := bytes.Cut(at, []byte{0})
	return string(bytes.ToValidUTF8(whole, []byte("?")))
}

func amount(at []byte) Amount { return Amount{Count: sum(at), Bytes: sum(at[8:])} }

// sum reads a number of calls or bytes.
func sum(at []byte) int { return int(min(word(at), 1<<62)) }

func readGroups(c []byte, n int) (groups []Group) {
	for i := range n {
		at := c[groupsAt+i*groupBytes:][:groupBytes]
		groups = append(groups, Group{ID: word(at), Size: number(at[8:]), Rank: number(at[12:]), ToAll: amount(at[16:]), Name: text(at[32:])})
	}
	return groups
}

func readSizes(c []byte) (sizes []Size) {
	for way := range ways {
		for class := range countsClasses {
			if a := amount(c[sizesAt+(int(way)*countsClasses+class)*amountBytes:]); a.Count != 0 {
				sizes = append(sizes, Size{Way: way, Class: class, Amount: a})
			}
		}
	}
	return sizes
}

func readRow(at []byte, clock clock, groups, objects int) (row Row, whole bool) {
	calls := sum(at[16:])
	if calls == 0 {
		return Row{}, false
	}
	row = Row{
		Function: "MPI_" + functionOf(int(binary.NativeEndian.Uint16(at))).name,
		Group:    index(at[2:], groups), Object: index(at[4:], objects), Place: word(at[8:]),
		Calls: calls, Bytes: sum(at[24:]),
		Time: clock.span(word(at[32:])), Shortest: clock.span(word(at[40:])), Longest: clock.span(word(at[48:])),
	}
	entered := new(big.Int).SetUint64(word(at[64:]))
	entered.Lsh(entered, 64).Add(entered, new(big.Int).SetUint64(word(at[56:])))
	row.Entered = clock.span(entered.Div(entered, big.NewInt(int64(calls))).Uint64())
	return row, true
}

// index reads an index of a table whose first entry is for all others.
func index(at []byte, entries int) int {
	switch i := int(binary.NativeEndian.Uint16(at)); {
	case i == 0:
		return NotInTable
	case i >= entries:
		return NoGroup
	default:
		return i
	}
}

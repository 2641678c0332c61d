// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package events

import "time"

// A Figure is something that is counted. Its name is that of JSON and of metrics.
type Figure string

// Times are in nanoseconds.
const (
	Syscalls    Figure = "syscalls"
	FutexWaits  Figure = "futex_waits" // calls that wait if the word has the value told
	FutexTime   Figure = "futex_wait_ns"
	Voluntary   Figure = "voluntary_switches"
	Involuntary Figure = "involuntary_switches"
	Migrations  Figure = "migrations" // to another CPU
	OffCPU      Figure = "off_cpu_ns"
	Faults      Figure = "page_faults"
)

// Figures are all, in the order to show them.
var Figures = []Figure{Syscalls, FutexWaits, FutexTime, Voluntary, Involuntary, Migrations, OffCPU, Faults}

// Counts holds the figures that its source knows.
type Counts map[Figure]uint64

func (c Counts) add(other Counts) {
	for figure, n := range other {
		c[figure] += n
	}
}

// Since returns what has been added since before.
func (c Counts) Since(before Counts) Counts {
	d := Counts{}
	for figure, n := range c {
		d[figure] = n - min(n, before[figure])
	}
	return d
}

// A Thread is followed: its number as seen in the namespace of this process, and whose it is. An
// owner is any number that the caller gives to a rank.
type Thread struct{ ID, Owner int }

// A File is a file that ranks map, as the kernel knows it: what /proc/PID/maps says.
type File struct {
	Major, Minor uint32
	Inode        uint64
}

// FaultKinds says how often a page was missing. Copies are of pages that were there, read-only,
// and were written to: above all, copies on write.
type FaultKinds struct {
	Reads   uint64 `json:"reads"`
	Writes  uint64 `json:"writes"`
	Copies  uint64 `json:"copies"`
	Fetches uint64 `json:"fetches"` // of instructions
}

// Sum returns how many there were.
func (f FaultKinds) Sum() uint64 { return f.Reads + f.Writes + f.Copies + f.Fetches }

func (f FaultKinds) plus(other FaultKinds) FaultKinds {
	return FaultKinds{f.Reads + other.Reads, f.Writes + other.Writes, f.Copies + other.Copies, f.Fetches + other.Fetches}
}

// Snapshot is what was counted from the start to its time. Threads has the live ones only; those
// that ended are among the counts of their owners.
type Snapshot struct {
	Time    time.Time
	Owners  map[int]Counts
	Threads map[Thread]Counts
	Faults  map[int]map[string]FaultKinds // by owner and object; nil: not known
	Lost    uint64                        // threads and faults that found no room; their figures lack
}

func newSnapshot() *Snapshot {
	return &Snapshot{Time: time.Now(), Owners: map[int]Counts{}, Threads: map[Thread]Counts{}}
}

// add puts the counts of a thread, alive or not, to those of its owner.
func (s *Snapshot) add(owner int, c Counts) {
	if s.Owners[owner] == nil {
		s.Owners[owner] = Counts{}
	}
	s.Owners[owner].add(c)
}

// atLeast keeps what is counted of an owner from falling, should threads end while they are read.
func (s *Snapshot) atLeast(before *Snapshot) {
	for owner, counts := range before.Owners {
		for figure, n := range counts {
			if s.Owners[owner] == nil {
				s.Owners[owner] = Counts{}
			}
			s.Owners[owner][figure] = max(s.Owners[owner][figure], n)
		}
	}
}

// A Source counts: a Kernel or a Proc.
type Source interface {
	// Follow begins to count threads, or to count them for another owner; and of others those that
	// nobody follows. Those that have ended are passed over.
	Follow(threads, others []Thread) error
	// Name tells what a file is called, so that faults in it are told apart from those in others.
	Name(file File, path string) error
	// Read returns what has been counted.
	Read() (*Snapshot, error)
	// Absent returns the figures that the source does not have.
	Absent() []Figure
	Close() error
}

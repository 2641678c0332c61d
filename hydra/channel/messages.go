// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package channel

import (
	"time"

	"github.com/tpsl/tpsl/calls"
)

// An Exit tells how the process of a rank set ended, or that of one rank in it.
type Exit struct {
	Set         int    // index in the host's sets
	Rank        int    // the rank whose own process it was, or -1
	PID         int    // on its host
	Status      uint32 // as wait(2) returns it
	Initialized bool   // some rank of the set started a PMI session
	Unfinalized []int  // ranks that started a PMI session and did not finalize it
	FaultRank   int    // the rank whose thread crashed, or -1
	ExitRank    int    // the rank whose thread called exit, or -1
	Ended       bool   // it ended because the job or its set ended, so its status says nothing about the program
	With        int    // Ended: the rank whose death by a signal ended the set, or -1 for the end of the job
	Core        string // the file with its core, if it is known
	OutOfMemory bool   // the kernel killed a process of the host's ranks for want of memory
	Running     bool   // the process still runs but its rank closed the PMI session without finalize
}

// A Tail is the last lines that the first process of a host to fail wrote to stderr.
type Tail struct {
	Ranks []int
	Text  []byte
}

// An Abort is a rank's request to end the job.
type Abort struct {
	Rank, Code int
	Text       string
	Unsaid     bool // the message of its MPI library does not name the host
}

// A Name is a request to the job's name service or the answer to it.
type Name struct {
	Op            string // publish, lookup, unpublish
	Service, Port string
	Once          bool          // publish: until the first lookup
	Wait          time.Duration // lookup: the longest time to wait until the name is published
	Error         string
}

// A Layout tells where all ranks of a world are, or asks for that by its key-value space.
type Layout struct {
	Space    string
	Universe int
	Hosts    []string
	Ranks    [][]int // of each host
	Programs []int   // of each rank
	Error    string
}

// A Modex asks for what a rank has put for all others to see, or brings it.
type Modex struct {
	Proxy, ID int    // the proxy that asks, and the index of its request
	Space     string // key-value space of the rank's world
	Rank      int
	Data      string
	Error     string
}

// A Loss tells that a proxy is gone, together with all proxies below it.
type Loss struct {
	Proxies []int // all of these proxies; the first is the one that has failed
	Began   bool  // the proxy had answered; if not, it never ran
	Text    string
}

// A Location tells where the ranks of a host are.
type Location struct {
	Whereabouts []Whereabouts
	Doing       []calls.Rank // empty if they note no calls
}

// A RankStack is the stack of a thread of a rank or, if it is not known of which, of one of several ranks.
type RankStack struct {
	Ranks       []int
	PID, Thread int
	Frames      []string // from the innermost on
	Error       string   // why there are none
}

// Counts are what a rank has counted, with the place in the source of each row.
type Counts struct {
	calls.Counts
	Places []calls.Place
	CPUs   int // of the host, on which its ranks may run
}

// Whereabouts tell where some ranks of one process are.
type Whereabouts struct {
	Ranks []int
	PID   int // 0 if there is none
	Phase Phase
}

// Samples tell what the ranks of a host do, and what they have used since they are watched.
type Samples struct {
	Location
	At        time.Duration // by a clock of the host's own, which only grows
	Taken     int           // samples of the calls that ranks are in
	Ranks     []RankSamples // of those about which something is known
	Processes []ProcessUsage
}

// RankSamples are those of one rank.
type RankSamples struct {
	Rank   int
	InCall int  // samples in which it was in a call
	Used   bool // Usage is known
	Usage
}

// A Usage is what a rank has taken of its host.
type Usage struct {
	CPU                    time.Duration
	Voluntary, Involuntary uint64 // context switches
	Faults                 uint64 // of pages
}

// Add adds another usage.
func (u *Usage) Add(other Usage) {
	u.CPU += other.CPU
	u.Voluntary += other.Voluntary
	u.Involuntary += other.Involuntary
	u.Faults += other.Faults
}

// Since returns what was used after an earlier usage.
func (u Usage) Since(before Usage) Usage {
	return Usage{u.CPU - before.CPU, u.Voluntary - before.Voluntary, u.Involuntary - before.Involuntary, u.Faults - before.Faults}
}

// LessThan reports whether some part is less than that of another usage.
func (u Usage) LessThan(other Usage) bool {
	return u.CPU < other.CPU || u.Voluntary < other.Voluntary || u.Involuntary < other.Involuntary || u.Faults < other.Faults
}

// A ProcessUsage is the memory of a process of ranks. Ranks of private mode that share an address space count as one process.
type ProcessUsage struct {
	PID      int // on its host
	Ranks    []int
	Resident uint64 // bytes; 0: not known
}

// A Phase is how far a rank has come, as far as its proxy can see.
type Phase int

// The phases.
const (
	NotStarted   Phase = iota
	NoSession          // it has not begun a PMI session
	InSession          // it has begun one, and nothing is known of its barriers
	OutOfBarrier       // it has begun one, and waits in no barrier
	InBarrier          // it waits in a barrier for others
	Finalized          // it has finalized its session
	Ended              // its process has ended
)

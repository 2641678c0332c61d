// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package whereabouts

import "time"

// A Question is what a user asks mpiexec.
type Question struct {
	Ask string `json:"ask"`
}

// What can be asked.
const (
	askWhere  = "where"  // where the ranks are, as text
	askStacks = "stacks" // the same, and the stacks of the ranks
	askLook   = "look"   // what they do and use. While the connection lasts, ranks are sampled
)

// An Answer is that to one question.
type Answer struct {
	Error string `json:"error,omitempty"` // why there is no answer
	Text  string `json:"text,omitempty"`
	Job   *Job   `json:"job,omitempty"`
}

// A Job is what is known of a job at a time. Counts are sums since the connection has asked first, or since earlier.
type Job struct {
	PID      int           `json:"pid"`   // of mpiexec
	Name     string        `json:"name"`  // its programs
	Began    time.Time     `json:"began"` // tells it from other jobs
	Elapsed  time.Duration `json:"elapsed_ns"`
	NotNoted bool          `json:"not_noted,omitempty"` // the ranks do not note their calls
	Ranks    int           `json:"ranks"`               // in all
	LeftOut  int           `json:"left_out"`            // of these, that are not among the hosts below
	Hosts    []Host        `json:"hosts"`
}

// A Host is one proxy of a job. A host has several if ranks were spawned there.
type Host struct {
	Proxy     int           `json:"proxy"`
	Name      string        `json:"name"`
	Group     int           `json:"group"`  // of ranks that started together; 0: those of the command line
	Silent    bool          `json:"silent"` // the proxy did not answer in time. Counts are those that it told before
	At        time.Duration `json:"at_ns"`  // when it told them, by a clock of the host's own
	Samples   int           `json:"samples"`
	Processes []Process     `json:"processes"`
}

// A Process has one rank or several, as threads or in private mode.
type Process struct {
	PID      int    `json:"pid"`      // 0: not known
	Resident uint64 `json:"resident"` // bytes; 0: not known
	Ranks    []Rank `json:"ranks"`
}

// A Rank is one of a process.
type Rank struct {
	Rank        int           `json:"rank"`
	PID         int           `json:"pid"` // of its own in private mode, or that of its process
	State       string        `json:"state"`
	Since       time.Duration `json:"since_ns"` // for how long at least it has been in the state; 0: not known
	Ended       bool          `json:"ended"`
	InMPI       bool          `json:"in_mpi"`             // it is in a call that is noted
	For         []int         `json:"for,omitempty"`      // ranks for which it waits
	ForMore     int           `json:"for_more,omitempty"` // that For has no room for
	ForAny      bool          `json:"for_any,omitempty"`  // it also waits for any other rank
	InCall      int           `json:"in_call"`            // in how many of the host's samples it was in a call
	Used        bool          `json:"used"`               // what follows is known
	CPU         time.Duration `json:"cpu_ns"`
	Voluntary   uint64        `json:"voluntary_switches"`
	Involuntary uint64        `json:"involuntary_switches"`
	Faults      uint64        `json:"page_faults"`
}

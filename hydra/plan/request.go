// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	"github.com/tpsl/tpsl/hydra/launch"
)

// MaxRanks bounds the ranks of a job, so that a typing error does not exhaust the machine's memory.
const MaxRanks = 1 << 20

// ProfileFile is where a profile is written unless the user says where, without the ending.
const ProfileFile = "tpsl-profile"

// A Request is what the user asks for. Package options reads it from a command line, a configuration file and the environment.
type Request struct {
	Verbose bool
	Timeout time.Duration // 0 is no limit

	Hosts    HostOptions
	Launch   launch.Options
	Env      []string // NAME=VALUE, for all segments
	PMI      PMIOptions
	Stdio    StdioOptions
	Exit     ExitOptions
	Hardware HardwareOptions
	Tools    []Tool
	State    StateOptions
	Profile  string // without its ending, the files to which a profile of the job is written; "": there is none

	Segments []Segment
}

// HostOptions say on which hosts ranks run, and in which order.
type HostOptions struct {
	List           string // "a:2,b[01-03]"
	File           string // a host file
	PPN            int    // slots of every host; 0 leaves what list or file say
	RMK            string // resource manager to ask; "" is the one under which the job runs, and "user" is none
	Order          string // by slots: "", "up" or "down"
	SkipLaunchNode bool   // no rank runs on the host of mpiexec
	RankMap        string // the host of each rank by its number: "0,1,1,0" or "(vector,...)"
	Iface          string // ranks are given the address of this interface as their host's name
	LocalName      string // how this host is called
	PropagateName  bool   // ranks are given the name of their host; the default
	PrintRankMap   bool
}

// PMIOptions say how ranks find each other.
type PMIOptions struct {
	Version    string   // "1", "2" or "x"; "" leaves it to the programs
	Launcher   string   // "PMI" or "PMIx": another launcher serves the ranks by it; "": the proxy serves them
	Port       bool     // ranks connect by TCP and inherit no socket
	Trace      bool     // every message is shown on stderr
	Universe   string   // "", "SYSTEM", "INFINITE" or a number
	AllocKinds string   // the job's mpi_memory_alloc_kinds
	PortRange  string   // "low:high", for Port; "" is any
	Singleton  []string // port, interface, key and PID of a process that is already running and asks for a server
}

// StdioOptions say where the ranks' standard streams lead.
type StdioOptions struct {
	Label   Pattern // a label before each line; "" is none
	OutFile Pattern // file that takes stdout; "" passes it on to mpiexec's
	ErrFile Pattern // the same for stderr
	From    Ranks   // ranks whose output is not dropped; nil is all
	Stdin   Ranks   // ranks that get mpiexec's stdin; nil is rank 0
}

// defaults puts values in place of nil.
func (o StdioOptions) defaults() StdioOptions {
	if o.From == nil {
		o.From = AllRanks()
	}
	if o.Stdin == nil {
		o.Stdin = Ranks{{0, 0}}
	}
	return o
}

// ExitOptions say what ends a job, and how its end is reported.
type ExitOptions struct {
	Code        ExitRule
	PrintAll    bool   // the exit code of every rank is shown
	KeepRunning bool   // the death of a rank does not end the others
	Silent      bool   // what failed is not reported on stderr
	Banner      Banner // how a crash is reported
	Report      string // a file that gets the outcome as JSON; "" is none
}

// HardwareOptions say which CPUs, memory, GPUs and NICs ranks get.
type HardwareOptions struct {
	Bind    Binding
	MapBy   Binding // the zero value is the object of Bind
	MemBind MemBinding
	Report  bool   // stderr shows what each rank gets
	GPUs    string // for each rank: "", "auto" or a number
	NICs    string // "", "none", "near"
}

// StateOptions say whether ranks note which MPI calls they are in, and when that is told.
type StateOptions struct {
	Noted     bool
	HangAfter time.Duration // it is told when no rank has changed its state for so long; 0: never
}

// Notes reports whether ranks note their calls.
func (o StateOptions) Notes() bool { return o.Noted || o.HangAfter > 0 }

// Mode tells how a program's ranks share processes.
type Mode string

// The modes.
const (
	ModeAuto    Mode = "auto"    // the libraries that the program needs decide
	ModeShared  Mode = "shared"  // an ordinary process whose threads claim slots
	ModePrivate Mode = "private" // the program is loaded once per rank
)

// A Segment is one program of a job and its ranks.
type Segment struct {
	Ranks      int    // 0: as many as the hosts have slots, or 1 when no host is named
	PerProcess int    // ranks in one process; it has no meaning if PerObject is set
	PerObject  string // "node", "numa", "socket" or "core": the ranks that are bound to one such object share a process
	Mode       Mode
	Hosts      string   // a host list of its own; "" takes that of the request
	Inherit    []string // names to pass on from mpiexec's environment; nil passes all, an empty list none
	Env        []string // NAME=VALUE; wins over that of the request
	Wdir       string
	Path       string   // folders, with colons between them, where Args[0] is looked for before PATH
	Args       []string // program and its arguments
}

// IsSingleton reports whether the job is one process that was started alone, is already running, and asks for a server.
func (o PMIOptions) IsSingleton() bool { return len(o.Singleton) > 0 }

// SingletonSegment is the segment of such a process. No program is started for it.
func (o PMIOptions) SingletonSegment() Segment {
	return Segment{Ranks: 1, PerProcess: 1, Mode: ModeAuto, Args: []string{"process " + o.Singleton[3]}}
}

// singletonAt places a singleton on the host on which it runs, and leaves stdin to it. It does not change other requests.
func (r Request) singletonAt(host string) Request {
	if r.PMI.IsSingleton() {
		segment := r.PMI.SingletonSegment()
		segment.Hosts = host
		r.Segments = []Segment{segment}
		r.Stdio.Stdin = Ranks{}
		r.PMI.Port = false
	}
	return r
}

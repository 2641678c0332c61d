// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"time"

	"github.com/tpsl/tpsl/hydra/launch"
)

// Mode tells how a program's ranks share processes.
type Mode string

// The modes of -tpsl.
const (
	ModeAuto    Mode = "auto"    // by the libraries the program needs
	ModeShared  Mode = "shared"  // an ordinary process whose threads claim slots
	ModePrivate Mode = "private" // the program is loaded once per rank
)

// Options is what a command line, its configuration file and the environment ask for.
type Options struct {
	Action  Action
	Topic   *option // of -OPTION -h
	Verbose bool
	Timeout time.Duration // 0 is no limit

	Hosts     HostOptions
	Launch    LaunchOptions
	Env       []string // -genv
	PMI       PMIOptions
	Stdio     StdioOptions
	Exit      ExitOptions
	Placement PlacementOptions
	Tools     []Tool // -gtool and -gdb

	Segments []Segment
}

// HostOptions say on which hosts ranks run, and in which order.
type HostOptions struct {
	List           string // -hosts: "a:2,b[01-03]"
	File           string // -f
	PPN            int    // slots of every host; 0 leaves what list or file say
	RMK            string // resource manager to ask; "" finds out, "user" asks none
	Order          string // -order-nodes: "", "up" or "down"
	SkipLaunchNode bool   // no rank on the host of mpiexec (Intel: -nolocal)
	RankMap        string // -rankmap: "0,1,1,0" or "(vector,...)"
	Iface          string // -iface: ranks are given the address of this interface as their host's name
	LocalName      string // -localhost: how this host is called
	PropagateName  bool   // PMI_HOSTNAME and its like are set; the default
	PrintRankMap   bool
}

// LaunchOptions say how proxies start.
type LaunchOptions = launch.Options

// PMIOptions say how ranks find each other.
type PMIOptions struct {
	Version    string   // -pmi: "1", "2" or "x"; "" leaves it to the programs
	Port       bool     // TCP in place of an inherited socket
	Trace      bool     // every message, on stderr
	Universe   string   // "", "SYSTEM", "INFINITE" or a number
	AllocKinds string   // -memory-alloc-kinds
	PortRange  string   // MPIEXEC_PORT_RANGE and its like: "low:high", for -pmi-port
	Singleton  []string // the values of -pmi_args
}

// StdioOptions say what becomes of the ranks' standard streams.
type StdioOptions struct {
	Label   Pattern // -prepend-pattern; -l is LabelPattern
	OutFile Pattern // -outfile-pattern
	ErrFile Pattern // -errfile-pattern
	From    Ranks   // -output-from: ranks whose output is not dropped; nil is all
	Stdin   Ranks   // -stdin: ranks that get mpiexec's; nil is rank 0
}

// defaults puts values in place of nil.
func (o StdioOptions) defaults() StdioOptions {
	if o.From == nil {
		o.From = allRanks
	}
	if o.Stdin == nil {
		o.Stdin = Ranks{{0, 0}}
	}
	return o
}

// ExitOptions say what ends a job and how that is told.
type ExitOptions struct {
	Code        ExitRule // -exit-code
	PrintAll    bool     // -print-all-exitcodes
	KeepRunning bool     // -disable-auto-cleanup: the death of a rank does not end the others
	Silent      bool     // -silent-abort: no report of what failed on stderr
	Report      string   // -report: a file that gets the outcome as JSON
}

// PlacementOptions say which CPUs, memory, GPUs and NICs ranks get.
type PlacementOptions struct {
	Bind    Binding
	MapBy   Binding // the zero value is the object of Bind
	MemBind MemBinding
	Report  bool   // -report-bindings
	GPUs    string // -gpus-per-proc: "", "auto" or a number
	NICs    string // -nics: "", "none", "near"
}

// Action is what mpiexec does after reading its options.
type Action int

// The actions.
const (
	ActionRun Action = iota
	ActionHelp
	ActionVersion
)

// A Segment is one program of an MPMD command line, between colons.
type Segment struct {
	Ranks      int    // 0: as many as the hosts have slots, or 1 when no host is named
	PerProcess int    // ranks in one process; without meaning where PerObject is set
	PerObject  string // "node", "numa", "socket" or "core": a process for the ranks bound to one
	Mode       Mode
	Hosts      string   // a later segment's own -hosts; "" takes Options.Hosts
	Inherit    []string // names to pass on from mpiexec's environment; nil passes all, an empty list none
	Env        []string // -env; wins over Options.Env
	Wdir       string
	Path       string   // folders, with colons between them, where Args[0] is looked for before PATH
	Args       []string // program and its arguments
}

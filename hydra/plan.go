// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tpsl/tpsl/hydra/hosts"
	"github.com/tpsl/tpsl/internal/ranges"
	"github.com/tpsl/tpsl/pmi"
)

// A Plan says which ranks run where. Making one is deterministic and touches no system state.
type Plan struct {
	Size  int
	Hosts []HostPlan
	Exit  ExitOptions

	opts    Options // what it was made of
	setting Setting
}

// A HostPlan is everything the proxy of one host needs to know; it travels in the launch frame.
type HostPlan struct {
	ID        int // index of the proxy
	Group     int // of ranks that started together; 0 is that of the command line
	Host      string
	User      string // whom to log in as; "" is the launcher's choice
	World     pmi.World
	PMI       PMIOptions
	Programs  []Program
	Sets      []RankSet
	Tools     []Tool
	Ranks     int // on this host
	Placement PlacementOptions
	Iface     string // the interface whose address ranks get as their host's name
	TellName  bool   // ranks get the name of their host
	Stdio     StdioOptions
	Dir       string // mpiexec's, in which relative names of output files are
	Prompt    bool   // send unfinished lines after a pause: someone reads along at a terminal
	ColourOut bool   // of labels on stdout
	ColourErr bool
	Trace     bool
}

// GroupName names the control group of the host's ranks.
func (h HostPlan) GroupName() string { return fmt.Sprintf("%s_%d", h.World.KVSName, h.ID) }

// PMIxFolder names the folder of the host's PMIx server, whose sockets and notes are the job's alone.
func (h HostPlan) PMIxFolder() string {
	return filepath.Join(os.TempDir(), "tpsl_"+h.GroupName()+"_pmix")
}

// A Program is what the ranks of one segment run.
type Program struct {
	Args       []string
	Env        []string // complete but for HostEnv and what the proxy adds per set
	HostEnv    []string // patterns of variables that are the proxy's own
	Wdir       string
	Path       string // folders where Args[0] is looked for before PATH
	Mode       Mode
	PerProcess int    // ranks in one process, as asked for
	PerObject  string // the proxy cuts the sets where this object of the ranks' binding changes
}

// A RankSet is the ranks that the launcher gives to one process.
type RankSet struct {
	Program int // index in Programs, the ranks' appnum
	Ranks   []int
	Local   int // index of its first rank among the host's ranks
}

// Only returns the part of the set that one rank is.
func (s RankSet) Only(rank int) RankSet {
	i := slices.Index(s.Ranks, rank)
	return RankSet{Program: s.Program, Ranks: s.Ranks[i : i+1], Local: s.Local + i}
}

// mapsNothing reports whether the host's ranks are mapped by some object, as options say, but not bound. Hydra passes over it.
func (h HostPlan) mapsNothing() bool {
	return h.Placement.MapBy.Object != "" && !h.Placement.Bind.Active()
}

// Label names the set as output labels and reports do: "3", "4-7", "0,2".
func (s RankSet) Label() string { return ranges.Format(s.Ranks) }

// Name names the set in sentences: "rank 3", "ranks 4-7".
func (s RankSet) Name() string { return rankNames(s.Ranks) }

// A Setting is what a plan depends on besides the options.
type Setting struct {
	Host    string                 // how this host is called
	IsLocal func(host string) bool // whether a name means this host, too
	Hosts   []hosts.Host           // where ranks may run; none is this host alone
	Manager hosts.Manager
	Dir     string // current directory
	Environ []string
	KVSName string
	Prompt  bool

	ColourOut, ColourErr bool
}

// NewPlan places the ranks of all segments on the hosts of s. A host without ranks is not in the plan.
func NewPlan(opts Options, s Setting) (Plan, error) {
	opts = opts.atHome(s.Host)
	placed, err := place(opts, s)
	if err != nil {
		return Plan{}, err
	}
	common := HostPlan{
		World:     newWorld(opts, s, placed),
		PMI:       opts.PMI,
		Programs:  programs(opts, s),
		Tools:     opts.Tools,
		Placement: opts.Placement,
		Iface:     opts.Hosts.Iface,
		TellName:  opts.Hosts.PropagateName,
		Stdio:     opts.Stdio.defaults(),
		Dir:       s.Dir,
		Prompt:    s.Prompt,
		ColourOut: s.ColourOut,
		ColourErr: s.ColourErr,
		Trace:     opts.Verbose,
	}
	common.PMI.Trace = opts.PMI.Trace || opts.Verbose
	if err := checkRanks(opts, len(placed.ranks)); err != nil {
		return Plan{}, err
	}
	plan := Plan{Size: len(placed.ranks), Exit: opts.Exit, opts: opts, setting: s}
	for id, parts := range placed.perHost() {
		host, err := common.on(placed.hosts[id])
		if err != nil {
			return Plan{}, err
		}
		host.ID = id
		for _, part := range parts {
			host.take(part, opts.Segments[part.segment])
		}
		plan.Hosts = append(plan.Hosts, host)
	}
	return plan, nil
}

func programs(opts Options, s Setting) []Program {
	var list []Program
	for _, segment := range opts.Segments {
		wdir := segment.Wdir
		if !filepath.IsAbs(wdir) {
			wdir = filepath.Join(s.Dir, wdir)
		}
		list = append(list, Program{
			Args:       segment.Args,
			Env:        rankEnviron(s.Environ, opts, segment),
			HostEnv:    segment.hostEnv(opts.Launch.Launcher),
			Wdir:       wdir,
			Path:       segment.Path,
			Mode:       segment.Mode,
			PerProcess: segment.PerProcess,
			PerObject:  segment.PerObject,
		})
	}
	return list
}

// on returns the plan for a host, without its ranks.
func (h HostPlan) on(host hosts.Host) (HostPlan, error) {
	h.Host, h.User = host.Name, host.User
	if host.Binding != "" {
		var err error
		if h.Placement.Bind, err = ParseBinding(host.Binding); err != nil {
			return HostPlan{}, fmt.Errorf("binding of host %s: %w", host.Name, err)
		}
	}
	return h, nil
}

// take adds ranks of a segment, in sets.
func (h *HostPlan) take(p part, segment Segment) {
	size := segment.PerProcess
	if segment.PerObject != "" {
		size = len(p.ranks) // until the proxy cuts them
	}
	h.Sets = append(h.Sets, cutSets(p.segment, p.ranks, size, h.Ranks)...)
	h.Ranks += len(p.ranks)
}

// cutSets cuts a host's ranks of a segment, in rank order, into sets of size; the last one takes the rest.
func cutSets(program int, ranks []int, size, local int) []RankSet {
	var sets []RankSet
	for set := range slices.Chunk(ranks, size) {
		sets = append(sets, RankSet{Program: program, Ranks: set, Local: local})
		local += len(set)
	}
	return sets
}

func rankNames(ranks []int) string {
	if len(ranks) == 1 {
		return "rank " + ranges.Format(ranks)
	}
	return "ranks " + ranges.Format(ranks)
}

// Holds reports whether the set has the rank.
func (s RankSet) Holds(rank int) bool { return slices.Contains(s.Ranks, rank) }

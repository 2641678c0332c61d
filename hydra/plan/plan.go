// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/tpsl/tpsl/hydra/hosts"
	"github.com/tpsl/tpsl/pmi"
)

// A Plan says which ranks run where. Making one is deterministic.
type Plan struct {
	Size  int
	Hosts []Host
	Exit  ExitOptions
	State StateOptions
	// Profile is that of the request.
	Profile string

	request Request // the request from which it was made
	site    Site
}

// A Host is everything that the proxy of one host needs to know; it travels in the launch frame.
type Host struct {
	ID        int // of the proxy
	Group     int // number of the ranks that started together; 0 is those of the command line
	Name      string
	User      string // whom to log in as; "" is the launcher's choice
	World     pmi.World
	PMI       PMIOptions
	Programs  []Program
	Sets      []RankSet
	Tools     []Tool
	State     bool // ranks note which MPI calls they are in
	Profile   bool // ranks count their calls as well
	Ranks     int  // on this host
	Hardware  HardwareOptions
	Iface     string // the interface whose address ranks get as their host's name
	TellName  bool   // ranks get the name of their host
	Stdio     StdioOptions
	Dir       string // working directory of mpiexec: names of output files are relative to it
	Prompt    bool   // stdout is a terminal: an unfinished line is sent after a pause, as it may be a prompt
	ColourOut bool   // labels on stdout are coloured
	ColourErr bool
	Trace     bool
}

// A Program is what the ranks of one segment run.
type Program struct {
	Args       []string
	Env        []string // all variables, except those of HostEnv and those that the proxy adds for each set
	HostEnv    []string // patterns of variables whose values belong to the host
	Wdir       string
	Path       string // folders where Args[0] is looked for before PATH
	Mode       Mode
	PerProcess int    // ranks in one process, as asked for
	PerObject  string // a new set begins where this object of the ranks' binding changes
}

// New places the ranks of all segments on the hosts of the site. A host without ranks is not in the plan.
func New(r Request, s Site) (Plan, error) { return newPlan(r, s, rankGroup{}) }

// A rankGroup tells the ranks that start together from those that started before.
type rankGroup struct {
	number     int
	firstProxy int         // ID of the proxy of its first host
	spawner    string      // key-value space of the ranks that spawned it, or ""
	preputs    []pmi.Entry // in its key-value space from the start
}

func newPlan(r Request, s Site, g rankGroup) (Plan, error) {
	r = r.singletonAt(s.Host)
	ranks, err := mapRanks(r, s)
	if err != nil {
		return Plan{}, err
	}
	if err := checkRanks(r, len(ranks.host)); err != nil {
		return Plan{}, err
	}
	common := Host{
		Group:     g.number,
		World:     newWorld(r, s, ranks, g),
		PMI:       r.PMI,
		Programs:  programs(r, s),
		Tools:     r.Tools,
		State:     r.State.Notes() || r.Profile != "",
		Profile:   r.Profile != "",
		Hardware:  r.Hardware,
		Iface:     r.Hosts.Iface,
		TellName:  r.Hosts.PropagateName,
		Stdio:     r.Stdio.defaults(),
		Dir:       s.Dir,
		Prompt:    s.Prompt,
		ColourOut: s.ColourOut,
		ColourErr: s.ColourErr,
		Trace:     r.Verbose,
	}
	common.PMI.Trace = r.PMI.Trace || r.Verbose
	plan := Plan{Size: len(ranks.host), Exit: r.Exit, State: r.State, Profile: r.Profile, request: r, site: s}
	for i, parts := range ranks.perHost() {
		host, err := common.on(ranks.hosts[i])
		if err != nil {
			return Plan{}, err
		}
		host.ID = g.firstProxy + i
		for _, part := range parts {
			host.take(part, r.Segments[part.segment])
		}
		plan.Hosts = append(plan.Hosts, host)
	}
	return plan, nil
}

// newWorld returns what the sessions of all ranks have in common.
func newWorld(r Request, s Site, ranks rankMap, g rankGroup) pmi.World {
	return pmi.World{
		Size:       len(ranks.host),
		KVSName:    s.KVSName,
		Mapping:    pmi.Mapping(ranks.host),
		Universe:   r.PMI.universe(max(ranks.slots, len(ranks.host))),
		AllocKinds: r.PMI.AllocKinds,
		Spawner:    g.spawner,
		Preputs:    g.preputs,
	}
}

// universe returns how many ranks there could be; 0 means that no limit is known.
func (o PMIOptions) universe(slots int) int {
	if o.Universe == "SYSTEM" {
		return slots
	}
	n, _ := strconv.Atoi(o.Universe) // it is 0 for INFINITE and for ""
	return n
}

func programs(r Request, s Site) []Program {
	var list []Program
	for _, segment := range r.Segments {
		wdir := segment.Wdir
		if !filepath.IsAbs(wdir) {
			wdir = filepath.Join(s.Dir, wdir)
		}
		list = append(list, Program{
			Args:       segment.Args,
			Env:        rankEnviron(s.Environ, r, segment),
			HostEnv:    segment.hostEnv(r.Launch.Launcher),
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
func (h Host) on(host hosts.Host) (Host, error) {
	h.Name, h.User = host.Name, host.User
	if host.Binding != "" {
		var err error
		if h.Hardware.Bind, err = ParseBinding(host.Binding); err != nil {
			return Host{}, fmt.Errorf("binding of host %s: %w", host.Name, err)
		}
	}
	return h, nil
}

// take adds ranks of a segment, divided into sets.
func (h *Host) take(p part, segment Segment) {
	size := segment.PerProcess
	if segment.PerObject != "" {
		size = len(p.ranks) // the placement cuts them
	}
	h.Sets = append(h.Sets, cutByNumber(p.segment, p.ranks, size, h.Ranks)...)
	h.Ranks += len(p.ranks)
}

// LocalRanks lists the ranks of the host.
func (h Host) LocalRanks() pmi.Ranks {
	var ranks pmi.Ranks
	for _, set := range h.Sets {
		ranks = append(ranks, set.Ranks...)
	}
	slices.Sort(ranks)
	return ranks
}

// ProgramsAs returns the host's programs with what is known only on the host. This is the values, in environ, of variables that
// belong to the host, and how many ranks of each program the placement puts in one process.
func (h Host) ProgramsAs(p Placement, environ []string) []Program {
	list := slices.Clone(h.Programs)
	for i := range list {
		list[i].Env = list[i].withHostEnv(environ)
	}
	for _, set := range p.Sets {
		program := &list[set.Program]
		program.PerProcess = max(program.PerProcess, len(set.Ranks))
	}
	return list
}

// Key is the name of the job on this host. The names of the ranks' control group and of the PMIx server's folder contain it.
func (h Host) Key() string { return fmt.Sprintf("%s_%d", h.World.KVSName, h.ID) }

// ReadsStdin reports whether some rank of the host gets mpiexec's stdin.
func (h Host) ReadsStdin() bool {
	return slices.ContainsFunc(h.Sets, func(set RankSet) bool { return h.Stdio.Stdin.HoldAny(set.Ranks) })
}

// MapsUnbound reports whether the user maps the host's ranks by some object but does not bind them, which has no effect.
func (h Host) MapsUnbound() bool { return h.Hardware.MapBy.Object != "" && !h.Hardware.Bind.Active() }

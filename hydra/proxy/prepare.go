// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/hydra/proxy/descriptors"
	"github.com/tpsl/tpsl/hydra/proxy/executable"
	"github.com/tpsl/tpsl/hydra/proxy/hardware"
	"github.com/tpsl/tpsl/hydra/proxy/rdma"
	"github.com/tpsl/tpsl/internal/topology"
)

// A start is what is needed to run one rank set, resolved before any of them runs.
type start struct {
	set    plan.RankSet
	exe    executable.Executable
	path   string // what is executed: the program, what loads it for the ranks, or a tool of the user's
	args   []string
	env    []string
	own    []string // the part of env that tells the process who it is
	dir    string
	cpus   topology.Set     // to bind the process to; nil leaves it
	memory *hardware.Memory // its policy; nil leaves it
	layout descriptors.Layout
	byTool bool // path is a tool, which starts the program
}

// writers lists what has standard streams of its own: in private mode each rank of the set, else the set as a whole.
func (s start) writers() []plan.RankSet {
	if !s.exe.IsPrivate() {
		return []plan.RankSet{s.set}
	}
	return s.set.Each()
}

// nameOf returns what the user calls what is executed. The process of private ranks executes a program of ours.
func (p *proxy) nameOf(s start) string {
	if s.byTool {
		return s.args[0]
	}
	return p.programs[s.set.Program].Args[0]
}

func writers(starts []start) (all []plan.RankSet) {
	for _, s := range starts {
		all = append(all, s.writers()...)
	}
	return all
}

// A programError says why one program of the plan, by its index, cannot run.
type programError struct {
	program int
	error
}

func (e programError) Unwrap() error { return e.error }

// prepare resolves every program, environment and CPU set, so that what cannot run is refused before anything runs.
func (p *proxy) prepare() ([]start, error) {
	shares, err := hardware.Place(p.host)
	if err != nil {
		return nil, err
	}
	if p.hostName, err = hostName(p.host); err != nil {
		return nil, err
	}
	p.programs = p.host.ProgramsAs(shares.Placement, os.Environ())
	executables, err := p.findPrograms(shares.Sets)
	if err != nil {
		return nil, err
	}
	if err := p.dealHardware(&shares, executables); err != nil {
		return nil, err
	}
	if err := p.makeBoard(shares.Sets); err != nil {
		return nil, err
	}
	var starts []start
	for _, set := range shares.Sets {
		s := p.startOf(set, executables[set.Program], shares)
		if err := p.addTool(&s); err != nil {
			return nil, err
		}
		if err := p.addCalls(&s); err != nil {
			return nil, err
		}
		p.addWitness(&s)
		if s.memory, err = shares.MemoryOf(set); err != nil {
			return nil, err
		}
		starts = append(starts, s)
	}
	if err := p.checkDescriptors(starts); err != nil {
		return nil, err
	}
	if err := p.checkRDMA(starts, shares); err != nil {
		return nil, err
	}
	return starts, p.startPMIx(starts)
}

// dealHardware gives each local rank its part of the hardware, and tells mpiexec what that has decided.
func (p *proxy) dealHardware(shares *hardware.Shares, executables []executable.Executable) error {
	var private []bool
	for _, e := range executables {
		private = append(private, e.IsPrivate())
	}
	if err := shares.Deal(private); err != nil {
		return err
	}
	if p.host.CutsByObject() || shares.Report != nil {
		p.conn.SendValue(channel.Placed, shares.Placement)
	}
	return nil
}

// findPrograms finds those programs that run on this host. The others need not be here.
func (p *proxy) findPrograms(sets []plan.RankSet) ([]executable.Executable, error) {
	found := make([]executable.Executable, len(p.programs))
	for i, program := range p.programs {
		if !slices.ContainsFunc(sets, func(set plan.RankSet) bool { return set.Program == i }) {
			continue
		}
		var err error
		if found[i], err = executable.Find(p.host, program); err != nil {
			return nil, programError{i, fmt.Errorf("cannot run %s on %s: %w", program.Args[0], p.host.Name, err)}
		}
	}
	return found, nil
}

// startOf returns what starts a set.
func (p *proxy) startOf(set plan.RankSet, exe executable.Executable, shares hardware.Shares) start {
	program := p.programs[set.Program]
	layout := descriptors.Layout{
		Ranks:    set.Ranks,
		Readers:  p.host.Stdio.Stdin,
		PerRank:  exe.IsPrivate(),
		Sessions: p.port == nil && !exe.PMIx,
		Control:  len(set.Ranks) > 1,
	}
	if p.board != nil {
		layout.Board = p.board.File()
	}
	own := p.settings(set, exe, layout, shares)
	path, args := exe.Command(program.Args)
	return start{
		set:    set,
		exe:    exe,
		path:   path,
		args:   args,
		env:    plan.SetEnv(program.Env, own...),
		own:    own,
		dir:    program.Wdir,
		cpus:   shares.ProcessCPUs(set),
		layout: layout,
	}
}

// addTool puts the first tool that is for a rank of the set in front of its program.
func (p *proxy) addTool(s *start) error {
	for _, tool := range p.host.Tools {
		if !tool.Ranks.HoldAny(s.set.Ranks) {
			continue
		}
		path, err := executable.LookPath(tool.Command[0], "", s.env, s.dir)
		if err != nil {
			return fmt.Errorf("option -%s: cannot run %s on %s: %w", tool.Option, tool.Command[0], p.host.Name, err)
		}
		s.args = slices.Concat(tool.Command, []string{s.path}, s.args[1:])
		s.path, s.byTool = path, true
		return nil
	}
	return nil
}

// checkRDMA refuses ranks that ask for RDMA which the host cannot give, or makes them take another way.
func (p *proxy) checkRDMA(starts []start, shares hardware.Shares) error {
	var processes []rdma.Process
	for _, s := range starts {
		processes = append(processes, rdma.Process{
			Program: s.set.Program,
			Ranks:   len(s.set.Ranks),
			Env:     s.env,
			PerRank: shares.RankSettings(s.set),
			UsesUCX: func() bool { return !s.byTool && s.exe.UsesUCX(s.env, s.dir) },
		})
	}
	settings, err := p.rdma.Check(processes)
	if err != nil {
		return err
	}
	for i, own := range settings {
		if own != nil {
			starts[i].env = plan.SetEnv(starts[i].env, own...)
		}
	}
	return nil
}

// spareDescriptors is how many descriptors the proxy opens at times besides: the keeper's pipe, files in /proc.
const spareDescriptors = 16

// checkDescriptors refuses ranks that need more descriptors in the proxy than it may have open. The Go runtime has raised
// the soft limit to the hard one, and gives children the old soft limit.
func (p *proxy) checkDescriptors(starts []start) error {
	var limit unix.Rlimit
	open, err := os.ReadDir("/proc/self/fd")
	if err == nil {
		err = unix.Getrlimit(unix.RLIMIT_NOFILE, &limit)
	}
	if err != nil {
		return fmt.Errorf("count descriptors: %w", err)
	}
	need, most, ranks := len(open)+spareDescriptors+p.output.CountFiles(writers(starts)), 0, 0
	for _, s := range starts {
		own := s.layout.Count()
		if p.port != nil {
			own += len(s.set.Ranks) // the connections of its ranks
		}
		need, most, ranks = need+own, max(most, own), ranks+len(s.set.Ranks)
	}
	if need += most; uint64(need) > limit.Cur { // a process's own ends are ours until it runs
		return fmt.Errorf("%d ranks on %s need %d descriptors in mpiexec's proxy, but its limit is %d; raise it there (ulimit -Hn), or use more hosts",
			ranks, p.host.Name, need, limit.Cur)
	}
	return nil
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/hydra/proxy/descriptors"
)

// prepare resolves every program, environment and CPU set, so that what cannot run is refused before anything runs.
func (p *proxy) prepare() ([]start, error) {
	pl, err := p.placeRanks()
	if err != nil {
		return nil, err
	}
	p.programs = p.host.ProgramsAs(pl.Placement, os.Environ())
	if p.hostName, err = hostName(p.host); err != nil {
		return nil, err
	}
	paths, ways := make([]string, len(p.programs)), make([]way, len(p.programs))
	for i := range p.programs {
		if !slices.ContainsFunc(pl.Sets, func(set plan.RankSet) bool { return set.Program == i }) {
			continue // it runs on other hosts only, and need not be here
		}
		program := p.programs[i]
		if paths[i], ways[i], err = p.resolve(program); err != nil {
			return nil, programError{i, fmt.Errorf("cannot run %s on %s: %w", program.Args[0], p.host.Name, err)}
		}
	}
	var starts []start
	for _, set := range pl.Sets {
		s := p.startOf(set, paths[set.Program], ways[set.Program], pl)
		if err := p.addTool(&s); err != nil {
			return nil, err
		}
		p.addWitness(&s)
		if s.memory, err = p.memoryOf(set, pl); err != nil {
			return nil, err
		}
		starts = append(starts, s)
	}
	if err := p.checkDescriptors(starts); err != nil {
		return nil, err
	}
	if err := p.checkRDMA(starts, pl); err != nil {
		return nil, err
	}
	return starts, p.startPMIx(starts)
}

// startOf returns what starts a set.
func (p *proxy) startOf(set plan.RankSet, path string, w way, pl placement) start {
	program := p.programs[set.Program]
	layout := p.layout(set, w)
	own := append(p.identity(layout, set, w, pl), w.settings...)
	args := program.Args
	if w.isPrivate() {
		path, args = w.host, slices.Concat([]string{w.host, path}, args)
	}
	return start{
		set:    set,
		path:   path,
		args:   args,
		env:    plan.SetEnv(program.Env, own...),
		own:    own,
		dir:    program.Wdir,
		cpus:   pl.ProcessCPUs(set),
		way:    w,
		layout: layout,
	}
}

// layout says which descriptors the process of a set inherits.
func (p *proxy) layout(set plan.RankSet, w way) descriptors.Layout {
	return descriptors.Layout{
		Ranks:    set.Ranks,
		Readers:  p.host.Stdio.Stdin,
		PerRank:  w.isPrivate(),
		Sessions: p.port == nil && !w.pmix,
		Control:  len(set.Ranks) > 1,
	}
}

// resolve finds a program and how its ranks share a process.
func (p *proxy) resolve(program plan.Program) (path string, w way, err error) {
	if err := unix.Access(program.Wdir, unix.X_OK); err != nil {
		return "", w, fmt.Errorf("working directory %s: %w", program.Wdir, err)
	}
	if path, err = lookPath(program.Args[0], program.Path, program.Env, program.Wdir); err != nil {
		return "", w, err
	}
	library := linkedMPIOf(path, program)
	served, err := p.needsPMIx(library.name, program)
	if err != nil {
		return "", w, err
	}
	w, err = share(path, program)
	w.pmix, w.library = served, library
	return path, w, err
}

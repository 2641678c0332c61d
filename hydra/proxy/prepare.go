// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra"
)

// prepare resolves every program, environment and CPU set, so that what cannot run is refused before anything runs.
func (p *proxy) prepare() ([]start, error) {
	allowed, err := allowedCPUs()
	if err != nil {
		return nil, err
	}
	cpus, err := p.rankCPUs(allowed)
	if err != nil {
		return nil, err
	}
	paths, sharing := make([]string, len(p.plan.Programs)), make([][]string, len(p.plan.Programs))
	for i, program := range p.plan.Programs {
		if paths[i], sharing[i], err = p.resolve(program); err != nil {
			return nil, fmt.Errorf("cannot run %s on %s: %w", program.Args[0], p.plan.Host, err)
		}
	}
	var starts []start
	for _, set := range p.plan.Sets {
		program := p.plan.Programs[set.Program]
		if set.Holds(0) {
			p.stdin = newStdinPump(p.conn)
		}
		own := append(p.identity(set, cpus, allowed), sharing[set.Program]...)
		starts = append(starts, start{
			set:  set,
			path: paths[set.Program],
			args: program.Args,
			env:  hydra.SetEnv(program.Env, own...),
			own:  own,
			dir:  program.Wdir,
			cpus: union(set, cpus),
		})
	}
	return starts, nil
}

// resolve finds a program and the settings by which its ranks can share a process.
func (p *proxy) resolve(program hydra.Program) (path string, sharing []string, err error) {
	if err := unix.Access(program.Wdir, unix.X_OK); err != nil {
		return "", nil, fmt.Errorf("working directory %s: %w", program.Wdir, err)
	}
	if path, err = lookPath(program.Args[0], program.Env, program.Wdir); err != nil {
		return "", nil, err
	}
	sharing, err = share(path, program)
	return path, sharing, err
}

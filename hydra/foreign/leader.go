// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/hydra/procs"
	"github.com/tpsl/tpsl/hydra/proxy"
	"github.com/tpsl/tpsl/hydra/proxy/hardware"
	"github.com/tpsl/tpsl/internal/topology"
)

// lead brings the set together, runs it, and returns how the leader's own rank ended. With an error, the other members of the set wait
// for Abort.
func (m *Member) lead(r Request) (status unix.WaitStatus, err error) {
	parts, err := m.gather(r)
	if err == nil {
		status, err = m.runSet(r, parts)
	}
	if err != nil {
		m.parts = parts
		return status, err
	}
	for _, p := range parts {
		p.drop()
	}
	return status, nil
}

func (m *Member) runSet(r Request, parts []*part) (unix.WaitStatus, error) {
	if err := procs.SetSubreaper(); err != nil {
		return 0, err
	}
	if err := procs.CloseOnExec(); err != nil {
		return 0, err
	}
	s := newSet(parts)
	process, err := proxy.StartSet(m.hostPlan(r, parts), m.boundCPUs(parts), s.connections())
	if err != nil {
		return 0, err
	}
	for _, p := range parts[1:] { // the leader's own session stays open until this process ends
		closeAll(p.fds)
		p.fds = nil
	}
	return s.follow(process)
}

// hostPlan is the plan of this host, with the one set.
func (m *Member) hostPlan(r Request, parts []*part) plan.Host {
	set, readers := plan.RankSet{Local: m.local}, plan.Ranks{}
	for _, p := range parts {
		set.Ranks = append(set.Ranks, p.Rank)
		readers = append(readers, plan.RankRange{First: p.Rank, Last: p.Rank})
	}
	name, _ := os.Hostname() // for messages
	host := plan.Host{
		Name:     name,
		Ranks:    m.localRanks,
		Sets:     []plan.RankSet{set},
		Programs: []plan.Program{{Args: r.Args, Env: environ(r.Environ, parts), Wdir: r.Dir, Mode: r.Mode, PerProcess: r.PerProcess}},
	}
	host.World.Size = m.Size
	host.PMI.Launcher = "PMI"
	if m.servedByPMIx() {
		host.PMI.Launcher = "PMIx"
	}
	host.Stdio.Stdin = readers
	return host
}

// boundCPUs returns the CPUs that the launcher has bound each rank to, as far as one process can have them all. It returns nil
// if all ranks have the same mask, because then the launcher has bound no rank.
func (m *Member) boundCPUs(parts []*part) (cpus []topology.Set) {
	if !slices.ContainsFunc(parts, func(p *part) bool { return !slices.Equal(p.CPUs, parts[0].CPUs) }) {
		return nil
	}
	var all topology.Set
	for _, p := range parts {
		all = all.Or(p.CPUs)
	}
	granted, err := hardware.Granted(all)
	if err != nil {
		granted = parts[0].CPUs
	}
	for _, p := range parts {
		within := p.CPUs.And(granted)
		if len(within) < len(p.CPUs) {
			fmt.Fprintf(os.Stderr, "tpsl run: rank %d: the launcher's cgroup keeps CPUs %s of rank %d from the process that they share; "+
				"have it bind no tasks (srun --cpu-bind=none)\n", m.Rank, p.CPUs, p.Rank)
		}
		if len(within) == 0 {
			return nil
		}
		cpus = append(cpus, within)
	}
	return cpus
}

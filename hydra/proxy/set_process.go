// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"os"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/hydra/proxy/descriptors"
	"github.com/tpsl/tpsl/hydra/proxy/executable"
	"github.com/tpsl/tpsl/hydra/proxy/hardware"
	"github.com/tpsl/tpsl/internal/ranges"
	"github.com/tpsl/tpsl/internal/topology"
)

// A SetProcess is the process of a rank set without a proxy. The caller of StartSet waits for its end, and its connections lead to
// another launcher.
type SetProcess struct {
	PID     int
	Private bool     // each rank is a process of its own
	Control *os.File // the pipe on which it reports about itself (package control); nil for a single rank
}

// StartSet starts the only set of a host's plan, with connections that another launcher has made. All ranks of the set read stdin.
// cpus has the CPUs of each rank. If it is nil, the plan decides them.
func StartSet(host plan.Host, cpus []topology.Set, c descriptors.Connections) (process SetProcess, err error) {
	p, set := &proxy{host: host, programs: host.Programs}, host.Sets[0]
	program := host.Programs[set.Program]
	exe, err := executable.Find(host, program)
	if err != nil {
		return process, fmt.Errorf("cannot run %s on %s: %w", program.Args[0], host.Name, err)
	}
	shares := hardware.Given(host, cpus)
	if cpus == nil {
		if shares, err = hardware.Place(host); err != nil {
			return process, err
		}
		if err := shares.Deal([]bool{exe.IsPrivate()}); err != nil {
			return process, err
		}
	}
	s := p.startOf(set, exe, shares)
	if exe.PMIx {
		s.servedByPMIx("PMIX_RANK=" + ranges.List(set.Ranks)) // the launcher's other variables are the same for all ranks
	}
	d, err := s.layout.Adopt(c)
	if err != nil {
		return process, err
	}
	process.Private, process.Control = exe.IsPrivate(), d.Control
	err = onLaunchThread(func() error {
		process.PID, err = p.forkExec(s, d.Process)
		return err
	})
	d.CloseProcess()
	if err != nil {
		d.Close()
		return process, fmt.Errorf("cannot run %s on %s: %w", program.Args[0], host.Name, err)
	}
	return process, nil
}

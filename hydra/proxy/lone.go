// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/hydra/proxy/descriptors"
	"github.com/tpsl/tpsl/internal/topology"
)

// A Lone is the process of a rank set without a proxy: its caller collects it, and its connections lead elsewhere.
type Lone struct {
	PID     int
	Private bool     // each rank is a process of its own
	Control *os.File // what it says about itself; nil for a single rank
}

// StartLone starts the one set of the plan, all of whose ranks read stdin. cpus has the CPUs of each of its ranks, or is
// nil.
func StartLone(host plan.Host, cpus []topology.Set, c descriptors.Connections) (lone Lone, err error) {
	p, set := &proxy{host: host, programs: host.Programs}, host.Sets[0]
	var pl placement
	if cpus != nil {
		pl.Placement = plan.Placement{Sets: host.Sets, CPUs: append(make([]topology.Set, set.Local), cpus...), Bound: true}
	} else if pl, err = p.placeRanks(); err != nil {
		return lone, err
	}
	program := host.Programs[set.Program]
	path, way, err := p.resolve(program)
	if err == nil && way.pmix && host.World.Size > 1 {
		err = errors.New("it needs PMIx, which mpiexec alone serves; start it by mpiexec")
	}
	if err != nil {
		return lone, fmt.Errorf("cannot run %s on %s: %w", program.Args[0], host.Name, err)
	}
	way.pmix = false // nobody serves it here; a job of one needs nobody
	s := p.startOf(set, path, way, pl)
	d, err := s.layout.Adopt(c)
	if err != nil {
		return lone, err
	}
	lone.Private, lone.Control = way.isPrivate(), d.Control
	err = onLaunchThread(func() error {
		lone.PID, err = p.forkExec(s, d.Process)
		return err
	})
	d.CloseProcess()
	if err != nil {
		d.Close()
		return lone, fmt.Errorf("cannot run %s on %s: %w", program.Args[0], host.Name, err)
	}
	return lone, nil
}

// Granted returns those of the CPUs that a process of this one may run on: a cgroup may hold the others back. The thread
// that tries it ends.
func Granted(cpus topology.Set) (granted topology.Set, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if _, err = bindThread(cpus); err == nil {
			granted, err = AllowedCPUs()
		}
	}()
	<-done
	return granted, err
}

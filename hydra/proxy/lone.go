// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra"
	"github.com/tpsl/tpsl/internal/topology"
)

// Connections are descriptors that another launcher has made for the ranks of a set, in rank order.
type Connections struct {
	Sessions []int    // PMI
	Outputs  [][2]int // stdout and stderr
}

// A Lone is the process of a rank set without a proxy: its caller collects it, and its connections lead elsewhere.
type Lone struct {
	PID     int
	Private bool     // each rank is a process of its own
	Control *os.File // what it says about itself; nil for a single rank
}

// StartLone starts the one set of the plan, all of whose ranks read stdin. cpus has the CPUs of each of its ranks, or is
// nil.
func StartLone(plan hydra.HostPlan, cpus []topology.Set, c Connections) (lone Lone, err error) {
	p, set := &proxy{plan: plan}, plan.Sets[0]
	var pl placement
	if cpus != nil {
		pl.cpus = append(make([]topology.Set, set.Local), cpus...)
	} else if pl, err = p.placeRanks(); err != nil {
		return lone, err
	}
	program := plan.Programs[set.Program]
	path, way, err := p.resolve(program)
	if err != nil {
		return lone, fmt.Errorf("cannot run %s on %s: %w", program.Args[0], plan.Host, err)
	}
	s := p.startOf(set, path, way, pl)
	d, err := loneDescriptors(set, way.host != "", c)
	if err != nil {
		return lone, err
	}
	lone.Private, lone.Control = len(d.outputs) > 1, d.control
	err = onLaunchThread(func() error {
		lone.PID, err = forkExec(s, d.child)
		return err
	})
	d.closeChild()
	if err != nil {
		d.closeOurs()
		return lone, fmt.Errorf("cannot run %s on %s: %w", program.Args[0], plan.Host, err)
	}
	return lone, nil
}

// loneDescriptors arranges the connections as openDescriptors does. The outputs have no end of ours.
func loneDescriptors(set hydra.RankSet, perRank bool, c Connections) (d *descriptors, err error) {
	d = new(descriptors)
	list := []int{0, c.Outputs[0][0], c.Outputs[0][1]}
	defer func() {
		if err != nil {
			d.closeChild()
			d.closeOurs()
		}
	}()
	if !set.Holds(0) {
		err = d.null()
		list = list[1:]
	}
	list = append(list, c.Sessions...)
	for _, fd := range list {
		if err == nil {
			err = d.copyOf(fd)
		}
	}
	if err == nil && len(set.Ranks) > 1 {
		d.control, err = d.pipe(false)
	}
	for _, pair := range c.Outputs[1:] {
		for _, fd := range pair {
			if err == nil && perRank {
				err = d.copyOf(fd)
			}
		}
	}
	if perRank {
		d.outputs = make([]output, len(set.Ranks))
	}
	return d, err
}

// copyOf gives the child a copy of a descriptor of ours.
func (d *descriptors) copyOf(fd int) error {
	twin, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, firstSessionFD)
	if err != nil {
		return fmt.Errorf("copy descriptor %d: %w", fd, err)
	}
	d.child = append(d.child, twin)
	return nil
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

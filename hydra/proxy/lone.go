// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/internal/topology"
)

// Connections are descriptors that another launcher has made for the ranks of a set, in rank order.
type Connections struct {
	Sessions []int    // PMI
	Streams  [][3]int // stdin, stdout, stderr
}

// A Lone is the process of a rank set without a proxy: its caller collects it, and its connections lead elsewhere.
type Lone struct {
	PID     int
	Private bool     // each rank is a process of its own
	Control *os.File // what it says about itself; nil for a single rank
}

// StartLone starts the one set of the plan, all of whose ranks read stdin. cpus has the CPUs of each of its ranks, or is
// nil.
func StartLone(host plan.Host, cpus []topology.Set, c Connections) (lone Lone, err error) {
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
	s := p.startOf(set, path, way, pl)
	d, err := loneDescriptors(set, way.host != "", c)
	if err != nil {
		return lone, err
	}
	lone.Private, lone.Control = way.host != "", d.control
	err = onLaunchThread(func() error {
		lone.PID, err = p.forkExec(s, d.child)
		return err
	})
	d.closeChild()
	if err != nil {
		d.closeOurs()
		return lone, fmt.Errorf("cannot run %s on %s: %w", program.Args[0], host.Name, err)
	}
	return lone, nil
}

// loneDescriptors arranges the connections as openDescriptors does. The streams have no end of ours.
func loneDescriptors(set plan.RankSet, perRank bool, c Connections) (d *descriptors, err error) {
	d = new(descriptors)
	defer func() {
		if err != nil {
			d.closeChild()
			d.closeOurs()
		}
	}()
	for _, fd := range slices.Concat(c.Streams[0][:], c.Sessions) {
		if err == nil {
			err = d.copyOf(fd)
		}
	}
	if err == nil && len(set.Ranks) > 1 {
		d.control, err = d.pipe(false)
	}
	if !perRank {
		return d, err
	}
	var outputs, inputs []int
	for _, streams := range c.Streams[1:] {
		outputs = append(outputs, streams[1:]...)
		inputs = append(inputs, streams[0])
	}
	for _, fd := range append(outputs, inputs...) {
		if err == nil {
			err = d.copyOf(fd)
		}
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

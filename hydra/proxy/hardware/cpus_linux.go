// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/topology"
)

// maxCPUs is how many CPUs Linux can be built for (CONFIG_NR_CPUS).
const maxCPUs = 8192

// AllowedCPUs lists the CPUs that this process may run on: those of its affinity mask, which lies within the mask of its cgroup.
func AllowedCPUs() (topology.Set, error) {
	mask := unix.NewCPUSet(maxCPUs)
	if err := unix.SchedGetaffinityDynamic(0, mask); err != nil {
		return nil, fmt.Errorf("read CPU mask: %w", err)
	}
	var cpus topology.Set
	for id := range maxCPUs {
		if mask.IsSet(id) {
			cpus = append(cpus, id)
		}
	}
	return cpus, nil
}

// BindThread sets the calling thread's CPU mask and returns a function that sets the old one again.
// Preconditions: the goroutine is locked to its thread.
func BindThread(cpus topology.Set) (restore func(), err error) {
	before, wanted := unix.NewCPUSet(maxCPUs), unix.NewCPUSet(maxCPUs)
	if err := unix.SchedGetaffinityDynamic(0, before); err != nil {
		return nil, fmt.Errorf("read CPU mask: %w", err)
	}
	for _, cpu := range cpus {
		wanted.Set(cpu)
	}
	if err := unix.SchedSetaffinityDynamic(0, wanted); err != nil {
		return nil, fmt.Errorf("bind to CPUs %v: %w", cpus, err)
	}
	return func() { _ = unix.SchedSetaffinityDynamic(0, before) }, nil // it was valid a moment ago
}

// Granted returns those of the CPUs that this process can be bound to: a cgroup may withhold the others. It tries that on a
// thread that then ends.
func Granted(cpus topology.Set) (granted topology.Set, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if _, err = BindThread(cpus); err == nil {
			granted, err = AllowedCPUs()
		}
	}()
	<-done
	return granted, err
}

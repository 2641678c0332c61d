// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/internal/topology"
)

// Memory is where the memory of a process comes from.
type Memory struct {
	policy string // of -membind
	nodes  topology.Set
}

var policies = map[string]int{"firsttouch": unix.MPOL_LOCAL, "bind": unix.MPOL_BIND, "interleave": unix.MPOL_INTERLEAVE}

// nodeMask is the size of a mask of NUMA nodes. Linux can be built for 1,024 of them. The system call takes the size in bits, but
// package unix passes the size in bytes, so the mask is eight times as long.
const nodeMask = 8 * 1024

// MemoryOf returns the memory policy of a set's process, or nil to leave it to the kernel.
func (s Shares) MemoryOf(set plan.RankSet) (*Memory, error) {
	want := s.host.Hardware.MemBind
	if !want.Active() {
		return nil, nil
	}
	cpus := s.ProcessCPUs(set)
	if cpus == nil {
		cpus = s.machine.CPUs
	}
	nodes, err := want.NodesOf(cpus, s.machine)
	if err != nil {
		return nil, fmt.Errorf("-membind on %s: %w", s.host.Name, err)
	}
	return &Memory{want.Policy, nodes}, nil
}

// Bind sets the memory policy of the calling thread, which the processes that it starts inherit. restore sets the default again.
// Preconditions: the goroutine is locked to its thread.
func (m *Memory) Bind() (restore func(), err error) {
	var mask unix.CPUSetDynamic
	if m.nodes != nil {
		mask = unix.NewCPUSet(nodeMask)
		for _, node := range m.nodes {
			mask.Set(node)
		}
	}
	if err := unix.SetMemPolicyDynamic(policies[m.policy], mask); err != nil {
		return nil, fmt.Errorf("set memory policy %s of NUMA nodes %v: %w", m.policy, m.nodes, err)
	}
	return func() { _ = unix.SetMemPolicyDynamic(unix.MPOL_DEFAULT, nil) }, nil
}

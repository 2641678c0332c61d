// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// domains is how many domains a port in model HMCS tells apart: the machine's NUMA nodes, where a thread can
// tell its own without a system call.
var domains = sync.OnceValue(func() int {
	if !hasRDTSCP() {
		return 1
	}
	nodes, _ := filepath.Glob("/sys/devices/system/node/node[0-9]*")
	return max(1, len(nodes))
})

// hasRDTSCP tells whether the kernel knows that the processor has the instruction. Some virtual machines hide it, and it
// then gives the number of a processor of their host.
func hasRDTSCP() bool {
	info, err := os.ReadFile("/proc/cpuinfo")
	return err == nil && slices.Contains(strings.Fields(string(info)), "rdtscp")
}

// processorAndNode returns where the calling thread runs: node<<12 | processor. It needs hasRDTSCP.
func processorAndNode() uint32

// domain returns that of the processor that the calling thread runs on; it may run on
// another by now, which costs a pass of the lock between domains and no more.
func (p *Port) domain() int {
	if p.hmcs.Domains() == 1 {
		return 0
	}
	return int(processorAndNode()>>12) % p.hmcs.Domains()
}

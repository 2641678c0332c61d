// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"path/filepath"
	"sync"
)

// domains is how many domains a port in model HMCS tells apart: the machine's NUMA nodes.
var domains = sync.OnceValue(func() int {
	nodes, _ := filepath.Glob("/sys/devices/system/node/node[0-9]*")
	return max(1, len(nodes))
})

// processorAndNode returns where the calling thread runs: node<<12 | processor.
func processorAndNode() uint32

// domain returns that of the processor that the calling thread runs on; it may run on
// another by now, which costs a pass of the lock between domains and no more.
func (p *Port) domain() int {
	if p.hmcs.Domains() == 1 {
		return 0
	}
	return int(processorAndNode()>>12) % p.hmcs.Domains()
}

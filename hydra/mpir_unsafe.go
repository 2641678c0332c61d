// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"slices"
	"structs"
	_ "unsafe" // for go:linkname
)

// Parallel debuggers find the processes of a job by these symbols ("The MPIR Process Acquisition Interface", version 1.1, of the
// MPI Forum). They have C's types: int, and an array of structures.

// mpirSpawned is the value of MPIR_debug_state that says that the table is filled.
const mpirSpawned = 1

// mpirProcDesc is MPIR_PROCDESC.
type mpirProcDesc struct {
	_          structs.HostLayout
	host       *byte
	executable *byte
	pid        int32
}

//go:linkname mpirProctable MPIR_proctable
var mpirProctable *mpirProcDesc

//go:linkname mpirProctableSize MPIR_proctable_size
var mpirProctableSize int32

//go:linkname mpirDebugState MPIR_debug_state
var mpirDebugState int32

//go:linkname mpirBeingDebugged MPIR_being_debugged
var mpirBeingDebugged int32

// mpirBreakpoint is where a debugger stops mpiexec to read the table.
//
//go:linkname mpirBreakpoint MPIR_Breakpoint
//go:noinline
func mpirBreakpoint() {}

// cString returns a C string of Go's memory.
func cString(s string) *byte { return &append([]byte(s), 0)[0] }

// showProcesses fills the table with the processes of the ranks of the command line, in rank order, as soon as all of them run. A
// debugger that has started mpiexec, or attaches to it, reads the table.
func (w *world) showProcesses() {
	waiting := func(link *proxyLink) bool { return len(link.pids) < len(link.placement.Sets) }
	if w.index > 0 || slices.ContainsFunc(w.links, waiting) {
		return
	}
	table := make([]mpirProcDesc, w.plan.Size)
	for _, link := range w.links {
		host := cString(link.host.Name)
		for i, set := range link.placement.Sets {
			program := cString(link.host.Programs[set.Program].Args[0])
			for _, rank := range set.Ranks {
				table[rank] = mpirProcDesc{host: host, executable: program, pid: int32(link.pids[i])}
			}
		}
	}
	mpirProctable, mpirProctableSize, mpirDebugState = &table[0], int32(len(table)), mpirSpawned
	if mpirBeingDebugged != 0 {
		mpirBreakpoint()
	}
}

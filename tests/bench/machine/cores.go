// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/topology"
)

// Cores returns a CPU of each core that this process may use.
func Cores() []int {
	var mask unix.CPUSet
	if err := unix.SchedGetaffinity(0, &mask); err != nil {
		panic(err) // it fails only for wrong arguments
	}
	var allowed []int
	for cpu := range len(mask) * 64 {
		if mask.IsSet(cpu) {
			allowed = append(allowed, cpu)
		}
	}
	var cores []int
	for _, core := range topology.Read(os.DirFS("/sys"), topology.NewSet(allowed...)).Objects(topology.Core) {
		cores = append(cores, core.CPUs[0])
	}
	return cores
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader_test

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/tpsl/tpsl/loader"
)

// Several goroutines at once, each with a copy of its own of a C library. What C gets
// pointers to is pinned while the call lasts: a text with a zero behind it, a place for
// a result.
func Example() {
	machines := []string{"pu:2", "core:2 pu:2", "pack:2 core:4 pu:2"}
	depths := make([]uintptr, len(machines))
	var all sync.WaitGroup
	for k, machine := range machines {
		all.Go(func() {
			hwloc, err := loader.Open("libhwloc.so.15")
			if err != nil {
				fmt.Println(err)
				return
			}
			defer hwloc.Close()
			var pinned runtime.Pinner
			defer pinned.Unpin()
			text, topology := append([]byte(machine), 0), new(uintptr)
			pinned.Pin(&text[0])
			pinned.Pin(topology)

			// int hwloc_topology_init(hwloc_topology_t *), and so on. Errors of these are left out here.
			_, _ = hwloc.Call("hwloc_topology_init", uintptr(unsafe.Pointer(topology)))
			_, _ = hwloc.Call("hwloc_topology_set_synthetic", *topology, uintptr(unsafe.Pointer(&text[0])))
			_, _ = hwloc.Call("hwloc_topology_load", *topology)
			depths[k], _ = hwloc.Call("hwloc_topology_get_depth", *topology)
			_, _ = hwloc.Call("hwloc_topology_destroy", *topology)
		})
	}
	all.Wait()
	for k, machine := range machines {
		fmt.Printf("%s: %d levels\n", machine, depths[k])
	}
	// Output:
	// pu:2: 2 levels
	// core:2 pu:2: 3 levels
	// pack:2 core:4 pu:2: 4 levels
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rankset

import (
	"os"
	"path/filepath"
)

// defaults are settings of the libraries below MPI that suit ranks of one process better than
// those libraries' own. A user's setting wins.
var defaults = []struct {
	name, value string
	only        func(s *Set, getenv func(string) string) bool // nil: always
}{
	// UCX would put a handler of its own on SIGSEGV for the whole process, from
	// whichever instance came first; faults are reported by the runtime.
	{name: "UCX_HANDLE_ERRORS", value: "none"},
	// UCX would take SIGHUP, to print what it knows, from a program that has a handler of its own by then.
	{name: "UCX_DEBUG_SIGNO", value: "0"},
	// hwloc would load plugins for X11 and OpenCL displays, and an XML library where
	// its own reader does: dozens of libraries per rank.
	{name: "HWLOC_PLUGINS_BLACKLIST", value: plugins, only: func(s *Set, getenv func(string) string) bool { return !skipsPCI(s, getenv) }},
	{name: "HWLOC_PLUGINS_BLACKLIST", value: plugins + ",hwloc_pci.so", only: skipsPCI},
	// UCX would take 4 MiB of shared memory for 512 messages to come, in each of two
	// transports. One for each of the 64 places of its queue and one that is being
	// filled are what it needs before ranks send without receiving.
	{name: "UCX_MM_RX_BUFS_GROW", value: "65"},
	// hwloc would read the configuration of all PCI devices, 8 ms a rank in a virtual machine.
	{name: "HWLOC_COMPONENTS", value: "-pci,-linux:pci", only: skipsPCI},
	// UCX would load its modules for RDMA devices in each rank, 70 kB, to find none.
	{name: "UCX_MODULES", value: "^ib,rdmacm", only: func(s *Set, _ func(string) string) bool { return s.NoRDMA }},
	// UCX would keep a cache of registered memory in each rank, which stays empty. Memory that one rank gives back is told to
	// the caches of all ranks, each under its lock.
	{name: "UCX_RCACHE_ENABLE", value: "n", only: func(s *Set, _ func(string) string) bool { return s.NoRDMA && s.NoRegistration }},
	// Open MPI would write jumps over libc's munmap and its like, to hear of memory that goes. The text of
	// libc is that of all ranks, and each would write its own jumps while others run there.
	{name: "OMPI_MCA_memory", value: "^patcher", only: func(s *Set, _ func(string) string) bool { return s.PMIx }},
}

const plugins = "hwloc_gl.so,hwloc_opencl.so,hwloc_xml_libxml.so"

// skipsPCI tells whether hwloc does without PCI devices.
func skipsPCI(s *Set, getenv func(string) string) bool {
	return s.Crowded && getenv("HWLOC_COMPONENTS") == ""
}

// hasRDMA tells whether the host may have RDMA devices; sys is where sysfs is mounted. Without sysfs nobody knows.
func hasRDMA(sys string) bool {
	if _, err := os.ReadDir(filepath.Join(sys, "class")); err != nil {
		return true
	}
	devices, _ := os.ReadDir(filepath.Join(sys, "class/infiniband"))
	verbs, _ := os.ReadDir(filepath.Join(sys, "class/infiniband_verbs")) // with a file for the version of the interface
	return len(devices) > 0 || len(verbs) > 1
}

// registers tells whether the host may have a device other than RDMA's to which UCX registers memory: XPMEM, KNEM and
// accelerators. dev is where the devices are.
func registers(dev string) bool {
	for _, device := range []string{"knem", "nvidiactl", "kfd", "dri/renderD128"} {
		if _, err := os.Stat(filepath.Join(dev, device)); err == nil {
			return true
		}
	}
	return hasXPMEM(dev)
}

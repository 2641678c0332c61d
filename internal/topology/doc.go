// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package topology reads what Linux shows of a machine's hardware in /sys: which CPUs
// make a core, a socket, a NUMA node or share a cache, and which of them are near a
// PCI device.
//
// It reads through an fs.FS, so that trees of other machines serve as well, and it
// reads only. What is missing or makes no sense is left out: containers hide parts of
// /sys. The CPUs that the caller may use are always there, each as a core of its own
// where nothing else is known. A Machine does not change; any thread may use it.
package topology

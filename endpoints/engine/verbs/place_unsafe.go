// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package verbs

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// preferred is MPOL_PREFERRED of set_mempolicy(2).
const preferred = 1

// mostNodes is how many NUMA nodes the kernel's masks have room for here.
const mostNodes = 1024

// A mask is a set of NUMA nodes.
type mask [mostNodes / 64]uint64

// onNode runs f on a thread whose new memory comes from a NUMA node, as long as that has some. The rest of the program is not
// concerned. Where the kernel has no NUMA, or a container may not choose, f runs all the same.
func onNode(node int, f func() error) error {
	if uint(node) >= mostNodes {
		return f()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before mask
	var policy int32
	if _, _, errno := unix.Syscall6(unix.SYS_GET_MEMPOLICY, uintptr(unsafe.Pointer(&policy)), uintptr(unsafe.Pointer(&before)), mostNodes, 0, 0, 0); errno != 0 {
		return f()
	}
	var wanted mask
	wanted[node/64] |= 1 << (node % 64)
	if setPolicy(preferred, &wanted) {
		defer setPolicy(policy, &before)
	}
	return f()
}

func setPolicy(policy int32, nodes *mask) bool {
	_, _, errno := unix.Syscall(unix.SYS_SET_MEMPOLICY, uintptr(policy), uintptr(unsafe.Pointer(nodes)), mostNodes)
	return errno == 0
}

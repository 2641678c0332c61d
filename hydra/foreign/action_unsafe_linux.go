// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// setDefaultAction sets SIG_DFL. os/signal does not do this for signals that the Go runtime handles itself, such as SIGSEGV.
func setDefaultAction(sig unix.Signal) {
	var action [4]uint64        // struct kernel_sigaction of x86-64; SIG_DFL is 0
	const maskSize = uintptr(8) // of the kernel's sigset_t
	_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&action)), 0, maskSize, 0, 0)
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// BellIn returns the bell that lies at the start of memory, on a cache line.
func BellIn(memory []byte) *Bell { return (*Bell)(unsafe.Pointer(&memory[:line][0])) }

// The operations of futex(2), <linux/futex.h>; without the private flag, since
// threads of several processes meet here.
const (
	futexWait = 0
	futexWake = 1
)

// futexSleep sleeps while the word has the value, until a wake-up, a signal, or
// the time is over; 0 stands for no limit.
func futexSleep(word *atomic.Uint32, value uint32, limit time.Duration) {
	var timeout *unix.Timespec
	if limit > 0 {
		ts := unix.NsecToTimespec(int64(limit))
		timeout = &ts
	}
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(value), uintptr(unsafe.Pointer(timeout)), 0, 0)
}

// futexWakeAll wakes whoever sleeps on the word.
func futexWakeAll(word *atomic.Uint32) {
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, 1<<30, 0, 0, 0)
}

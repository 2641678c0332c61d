// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package fult

import (
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	futexWaitPrivate = 0 | 128 // FUTEX_WAIT | FUTEX_PRIVATE_FLAG, futex(2)
	futexWakePrivate = 1 | 128
)

// futexWait sleeps while *word is value, for at most the given time; 0 is for ever.
// It may return early: a signal of the Go runtime suffices.
func futexWait(word *atomic.Uint32, value uint32, limit time.Duration) {
	var at *unix.Timespec
	if limit > 0 {
		ts := unix.NsecToTimespec(limit.Nanoseconds())
		at = &ts
	}
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWaitPrivate, uintptr(value), uintptr(unsafe.Pointer(at)), 0, 0)
}

// futexWake ends the sleep of one thread on word.
func futexWake(word *atomic.Uint32) {
	_, _, _ = unix.Syscall(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWakePrivate, 1)
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// headerIn, bellIn and wordIn look at the start of memory, which is on a cache line
// and long enough: parts of a mapped segment.

func headerIn(memory []byte) *header { return (*header)(unsafe.Pointer(&memory[:pageSize][0])) }

func bellIn(memory []byte) *bell { return (*bell)(unsafe.Pointer(&memory[:line][0])) }

func wordIn(memory []byte) *atomic.Uint64 { return (*atomic.Uint64)(unsafe.Pointer(&memory[:line][0])) }

// addressOf returns where a buffer is, for the process that reads it from outside.
// Its holder keeps the buffer alive until the reader is done.
func addressOf(buf []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(buf)))) }

// probeAddress returns where the word is, in this process, that peers try to read.
func (s *segment) probeAddress() uint64 { return uint64(uintptr(unsafe.Pointer(&s.header.probe))) }

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

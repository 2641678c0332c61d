// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"sync/atomic"
	"unsafe"
)

// headerIn and wordIn look at the start of memory, which is on a cache line
// and long enough: parts of a mapped segment.

func headerIn(memory []byte) *header { return (*header)(unsafe.Pointer(&memory[:pageSize][0])) }

func wordIn(memory []byte) *atomic.Uint64 { return (*atomic.Uint64)(unsafe.Pointer(&memory[:line][0])) }

// addressOf returns where a buffer is, for the process that reads it from outside.
// Its holder keeps the buffer alive until the reader is done.
func addressOf(buf []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(buf)))) }

// probeAddress returns where the word is, in this process, that peers try to read.
func (s *segment) probeAddress() uint64 { return uint64(uintptr(unsafe.Pointer(&s.header.probe))) }

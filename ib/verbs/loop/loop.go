// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package loop

/*
#cgo CFLAGS: -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror
#cgo LDFLAGS: -libverbs
#include "loop.h"
*/
import "C"

import (
	"fmt"
	"unsafe"
)

// A Loop is a connection of a device to itself.
type Loop struct {
	loop *C.struct_tpsl_loop
	sink []byte
}

// Open makes a loop in a protection domain, a struct ibv_pd, for writes of up to size bytes.
func Open(domain unsafe.Pointer, size int) (*Loop, error) {
	var step *C.char
	l, err := C.tpsl_loop_open(domain, C.size_t(size), &step)
	if l == nil {
		return nil, fmt.Errorf("open loop: %s: %w", C.GoString(step), err)
	}
	return &Loop{l, unsafe.Slice((*byte)(C.tpsl_loop_sink(l)), size)}, nil
}

// Write has the device read memory by its key, and returns what it read, until the next Write.
func (l *Loop) Write(start uint64, length int, key uint32) ([]byte, error) {
	clear(l.sink[:length])
	if status := C.tpsl_loop_write(l.loop, C.uint64_t(start), C.uint32_t(length), C.uint32_t(key)); status != 0 {
		return nil, fmt.Errorf("write %d bytes at %#x: completion status %d", length, start, status)
	}
	return l.sink[:length], nil
}

// Close closes the loop.
func (l *Loop) Close() { C.tpsl_loop_close(l.loop) }

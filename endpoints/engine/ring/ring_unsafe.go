// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"fmt"
	"unsafe"
)

// At returns a handle on the ring that lies in memory, which starts at a cache line
// and holds Size(capacity) bytes: zeros, or a ring that others use already.
func At(memory []byte, capacity int) (*Ring, error) {
	if err := check(capacity); err != nil {
		return nil, err
	}
	start := unsafe.Pointer(unsafe.SliceData(memory))
	if len(memory) < Size(capacity) || uintptr(start)%CellSize != 0 {
		return nil, fmt.Errorf("ring of %d cells: needs %d bytes from a cache line on, not %d bytes at %p", capacity, Size(capacity), len(memory), start)
	}
	return place(unsafe.Slice((*Cell)(start), headerCells+capacity)), nil
}

// header returns the ring's first two lines for what they are.
func header(memory []Cell) (*producers, *consumer) {
	return (*producers)(unsafe.Pointer(&memory[0])), (*consumer)(unsafe.Pointer(&memory[1]))
}

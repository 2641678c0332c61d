// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"errors"
	"fmt"
	"unsafe"
)

// At returns a handle on the ring whose header and cells lie in two pieces of memory, which start at cache lines: zeros, or a
// ring that others use already. It holds HeaderSize bytes, and its cells as many as the ring may have at most. The ring has the least
// capacity at first. Both are powers of two from 2 to MaxCapacity. If they differ, the consumer calls release, which makes zeros of the cells from one to before
// another when the capacity has been halved.
func At(header, cells []byte, least int, release func(from, to int)) (*Ring, error) {
	most := len(cells) / CellSize
	if err := errors.Join(check(most), check(least)); err != nil {
		return nil, err
	}
	start, first := unsafe.Pointer(unsafe.SliceData(header)), unsafe.Pointer(unsafe.SliceData(cells))
	switch {
	case least > most:
		return nil, fmt.Errorf("ring of at least %d and at most %d cells", least, most)
	case len(header) < HeaderSize || (uintptr(start)|uintptr(first))%CellSize != 0:
		return nil, fmt.Errorf("ring with %d bytes at %p and cells at %p: needs %d bytes, and both from a cache line on", len(header), start, first, HeaderSize)
	}
	return place((*producers)(start), (*consumer)(unsafe.Add(start, CellSize)), unsafe.Slice((*Cell)(first), most), least, release), nil
}

// header returns the ring's first two lines for what they are.
func header(memory []Cell) (*producers, *consumer) {
	return (*producers)(unsafe.Pointer(&memory[0])), (*consumer)(unsafe.Pointer(&memory[1]))
}

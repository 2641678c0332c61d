// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"sync/atomic"
	"unsafe"
)

// wordSize is that of the words of a region.
const wordSize = 8

func isAligned(memory []byte) bool {
	return uintptr(unsafe.Pointer(unsafe.SliceData(memory)))%wordSize == 0
}

// wordAt returns the word at an offset, which is a multiple of its size, of memory that is aligned.
func wordAt(memory []byte, offset uint64) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&memory[offset : offset+wordSize][0]))
}

// storeWord stores a word in what bytesOf has returned.
func storeWord(b []byte, w uint64) {
	if b != nil {
		*(*uint64)(unsafe.Pointer(&b[:wordSize][0])) = w
	}
}

// bytesOf returns the memory of a number, nil of nil.
func bytesOf(number *uint64) []byte {
	if number == nil {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(number)), wordSize)
}

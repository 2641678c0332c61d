// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package crew

import "unsafe"

// Plain are values without pointers, which a message may carry as they are.
type Plain interface {
	~byte | ~int32 | ~uint32 | ~int64 | ~uint64 | ~float64
}

// Bytes returns the memory of values.
func Bytes[T Plain](values []T) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), len(values)*sizeOf[T]())
}

func sizeOf[T Plain]() int {
	var v T
	return int(unsafe.Sizeof(v))
}

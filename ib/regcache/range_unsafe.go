// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package regcache

import "unsafe"

// RangeOf returns the addresses of b. They mean something for as long as b is used.
func RangeOf(b []byte) Range {
	start := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
	return Range{start, start + uint64(len(b))}
}

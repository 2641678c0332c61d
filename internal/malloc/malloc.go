// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package malloc

/*
#include <stdlib.h>
*/
import "C"

import "unsafe"

// Array copies a list, whose elements have no pointers to Go's memory, and returns the first
// element of the copy; nil for an empty list.
func Array[T any](list []T) *T {
	if len(list) == 0 {
		return nil
	}
	array := (*T)(C.malloc(C.size_t(len(list)) * C.size_t(unsafe.Sizeof(list[0]))))
	copy(unsafe.Slice(array, len(list)), list)
	return array
}

// Strings copies a list into what C knows as char **: pointers to strings that end with a zero
// byte, each from malloc, and behind them NULL.
func Strings(list []string) unsafe.Pointer {
	array := make([]unsafe.Pointer, len(list)+1)
	for i, s := range list {
		array[i] = unsafe.Pointer(C.CString(s))
	}
	return unsafe.Pointer(Array(array))
}

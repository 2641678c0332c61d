// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package packet

import (
	"os"
	"unsafe"
)

// pages returns n zero bytes that start at a page.
func pages(n int) []byte {
	page := os.Getpagesize()
	s := make([]byte, n+page)
	skip := -uintptr(unsafe.Pointer(&s[0])) & uintptr(page-1)
	return s[skip : skip+uintptr(n)]
}

// deques returns n deques that start at a cache line. They hold no pointers.
func deques(n int) []deque {
	s := make([]deque, n+1)
	skip := -uintptr(unsafe.Pointer(&s[0])) % line
	return unsafe.Slice((*deque)(unsafe.Add(unsafe.Pointer(&s[0]), skip)), n)
}

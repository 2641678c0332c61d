// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package calls

import (
	"sync/atomic"
	"unsafe"
)

// loadWord reads the first word of memory that other processes write. Preconditions: it is aligned to its size.
func loadWord(memory []byte) uint64 {
	return atomic.LoadUint64((*uint64)(unsafe.Pointer(&memory[:8][0])))
}
